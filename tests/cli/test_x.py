from bough.cli import terminal
import re
def test_a(capsys):
    terminal.complain("two\n lines")
    print(repr(capsys.readouterr().err), repr(re.sub(r"\s*\n\s*", " ", "two\n lines")), terminal.re)
    import dis; dis.dis(terminal.complain.__wrapped__ if hasattr(terminal.complain,'__wrapped__') else terminal.complain)
    assert 0
