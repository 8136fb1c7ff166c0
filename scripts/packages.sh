# shellcheck shell=bash
# Debian's or Ubuntu's packages, fetched and not installed: needs no root. To be sourced.

# fetch_packages FOLDER FILTER PACKAGE…: the packages, and of all that they depend on the names that FILTER lets pass.
# What goes wrong is in FOLDER/errors.
fetch_packages() {
  local folder=$1 filter=$2
  shift 2
  local options=(-qq -o APT::Sandbox::User="$(id -un)" -o Acquire::Retries=1 -o Acquire::http::Timeout=30)
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/packages"
  # The system's package lists may be empty or out of date: then a private copy, which root is not needed for.
  if ! _download "$@"; then
    options+=(-o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder/cache")
    apt-get "${options[@]}" update 2>"$folder/errors" && _download "$@"
  fi
}

_download() {
  local names
  names=$(apt-cache "${options[@]}" depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances "$@" 2>>"$folder/errors" | grep -E '^[a-z0-9]' | sort -u | "$filter") || true
  # shellcheck disable=SC2086  (one word a package)
  (cd "$folder/packages" && apt-get "${options[@]}" download "$@" $names) 2>>"$folder/errors"
}
