"""Why a request failed, out of what the libraries wrap around it."""

__all__ = ["root_cause"]


def root_cause(error: BaseException) -> str:
    """The innermost cause: what the operating system or OpenSSL said."""
    while True:
        reason = getattr(error, "reason", None)
        inner = reason if isinstance(reason, BaseException) else error.__cause__ or error.__context__
        inner = inner or next((arg for arg in error.args if isinstance(arg, BaseException)), None)
        if inner is None:
            return str(getattr(error, "strerror", None) or error) or type(error).__name__
        error = inner
