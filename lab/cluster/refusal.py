"""A reason to stop a command. The user sees it without a traceback."""


class Refusal(Exception):
    pass
