# Sourced by the scripts beside it: makes .venv and installs what is missing, and says what it does.
# What is there already is left alone, so that nothing is fetched twice and no network is needed then.

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

die() {
    say "$*"
    exit 69 # EX_UNAVAILABLE
}

# install_packages NAME...: Debian packages, by apt where that is possible without asking for a password.
install_packages() {
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        as_root=(sudo)
        # On a terminal sudo may ask for the password; elsewhere nobody could answer.
        if ! sudo -n true 2>/dev/null && ! { [ -t 0 ] && sudo -v; }; then
            die "missing: $*. Please run: sudo apt-get install -y $*"
        fi
    fi
    command -v apt-get >/dev/null || die "missing: $*. Please install them with this system's package manager."
    say "installing with apt-get: $*"
    "${as_root[@]}" apt-get update -qq || say "the package lists could not be renewed; trying with the old ones"
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null ||
        die "apt-get failed. Please run: sudo apt-get install -y $*"
}

# need COMMAND PACKAGE: note the package if the command is missing. Debian keeps daemons where users do not look.
need() {
    PATH="$PATH:/usr/sbin:/sbin" command -v "$1" >/dev/null || missing+=("$2")
}

find_python() {
    local name
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            python=$name
            return
        fi
    done
    die "Python 3.11 or newer is needed. Please run: sudo apt-get install -y python3 (Debian 12 or newer)"
}

# set_up GROUP PACKAGE-COMMAND...: the environment with a dependency group ("" for none), and system packages given
# as COMMAND=PACKAGE.
set_up() {
    local group=$1 pair stamp missing=()
    shift
    for pair in "$@"; do
        need "${pair%%=*}" "${pair#*=}"
    done
    find_python
    if [ ! -x .venv/bin/python ] && ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        missing+=(python3-venv)
    fi
    if [ ${#missing[@]} -gt 0 ]; then
        install_packages "${missing[@]}"
    fi
    # What was installed is remembered by its list: when the list changes it is installed again.
    stamp=.venv/installed-${group:-run}
    if [ ! -x .venv/bin/python ]; then
        say "making .venv"
        "$python" -m venv .venv
    fi
    if ! cmp -s pyproject.toml "$stamp"; then
        say "installing into .venv; the first time this takes a few minutes"
        if install_package "$group" >.venv/install.log 2>&1; then
            cp pyproject.toml "$stamp"
        elif .venv/bin/board-gateway --version >/dev/null 2>&1; then
            say "could not install (see .venv/install.log); going on with what is in .venv"
        else
            tail -n 5 .venv/install.log >&2
            die "could not install. Is this machine on the network?"
        fi
    fi
}

# Dependency groups came with pip 25.1.
install_package() {
    .venv/bin/python -m pip install -q 'pip>=25.1' &&
        .venv/bin/python -m pip install -q --editable . ${1:+--group "$1"}
}
