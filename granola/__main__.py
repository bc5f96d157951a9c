"""`python -m granola`: the command line."""

from granola.commands.cli.main import main

if __name__ == "__main__":
    main()
