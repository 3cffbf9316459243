"""`python -m emoscope`: the same as `emoscope`."""

from emoscope.cli.main import run

if __name__ == "__main__":
    run()
