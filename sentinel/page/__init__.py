"""The status page: a JSON API, and the files that show it in a browser."""
