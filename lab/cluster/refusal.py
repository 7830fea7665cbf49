"""What stops a command: told to the user without a stack of calls."""


class Refusal(Exception):
    pass
