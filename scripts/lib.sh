# Shared by the scripts of this folder: source it from the root of the project.

# Make and enter a virtual environment that goes when the script ends; PYTHON names the interpreter.
fresh_environment() {
    local python=${PYTHON:-python3}
    if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        echo "kolchin needs Python 3.11 or later; set PYTHON to such an interpreter." >&2
        exit 1
    fi
    environment=$(mktemp -d)
    trap 'rm -rf "$environment"' EXIT
    "$python" -m venv "$environment"
    export PATH="$environment/bin:$PATH" VIRTUAL_ENV="$environment"  # uv goes by the latter
    unset PYTHONPATH
}

quiet_pip() {
    python -m pip --quiet --disable-pip-version-check "$@"
}
