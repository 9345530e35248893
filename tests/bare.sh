#!/usr/bin/env bash
# Runs a command in a fresh clone inside a minimal Debian that has git, make and certificates, and nothing else.
#     bare.sh CHECKOUT FOLDER COMMAND…      FOLDER: a new one for the Debian; needs root and debootstrap
#     bare.sh --user CHECKOUT FOLDER COMMAND…      as a user without rights, once root has installed setup/apt.txt
#     bare.sh --release NAME …      bookworm (Debian 12, the default) or trixie (Debian 13)
# The clone is FOLDER/home/user/project. Settings of apt and pip are those of this machine. Mounts and processes live in
# namespaces of their own, so nothing stays bound or runs on when this ends, however it ends. The exit status is that of
# the command, or 125 where the Debian cannot be made.
set -euo pipefail

cannot() {
    echo "bare.sh: $1" >&2
    exit 125
}

arguments=("$@") as=root release=bookworm
while [[ ${1:-} == --* ]]; do
    case $1 in
        --user) as=user ;;
        --release)
            release=${2:-nothing}
            shift $(($# > 1))
            ;;
        *) cannot "$1; expected --user or --release NAME" ;;
    esac
    shift
done
if [[ $release != bookworm && $release != trixie ]]; then cannot "--release $release; expected bookworm or trixie"; fi
if (($# < 3)); then cannot 'expected CHECKOUT FOLDER COMMAND'; fi
checkout=$(readlink -f "$1") root=$(readlink -m "$2")
shift 2
if [[ -z ${BARE_INSIDE:-} ]]; then
    if [[ -e $root ]]; then cannot "$root exists already"; fi
    if [[ $(id -u) != 0 ]] || ! command -v debootstrap >/dev/null; then cannot 'needs root and debootstrap'; fi
    apart=(unshare --mount --propagation private --pid --fork --kill-child --mount-proc)
    "${apart[@]}" true 2>/dev/null || cannot 'no mounts are possible here'
    BARE_INSIDE=yes exec "${apart[@]}" "$0" "${arguments[@]}"
fi

# The mirror of this machine's own Debian has the other releases, too.
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE)' | awk '$2 ~ /^(bookworm|trixie)$/ {print $1; exit}')
debootstrap --variant=minbase --include=ca-certificates,git,make "$release" "$root" \
    ${mirror:+"$mirror"} >"$root.log" 2>&1 || cannot "debootstrap: $(tail -1 "$root.log")"

# What lets apt and pip reach their servers from here.
for file in /etc/pip.conf /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
    if [[ -e $file ]]; then cp -L "$file" "$root$file"; fi
done
apt-config dump | grep -E '^Acquire::(https?|Check|Retries|Force)' >"$root/etc/apt/apt.conf.d/of-the-host" || true
# Sources of another release have other packages; there, those of debootstrap serve.
if grep -qsw "$release" /etc/apt/sources.list.d/*; then
    cp -a /etc/apt/sources.list.d/. "$root/etc/apt/sources.list.d/"
    rm -f "$root/etc/apt/sources.list"
fi
mapfile -t passed < <(env | grep -E '^(PIP_[A-Z_]+|(SSL|REQUESTS|CURL)_[A-Z_]+|[A-Za-z]+_(proxy|PROXY)|CI|TERM)=')
for folder in proc sys dev; do mount --rbind "/$folder" "$root/$folder"; done
if [[ -d ${PIP_FIND_LINKS:-} ]]; then
    mkdir -p "$root/$PIP_FIND_LINKS"
    mount --bind "$PIP_FIND_LINKS" "$root/$PIP_FIND_LINKS"
fi

chroot "$root" useradd --create-home --shell /bin/bash user
git clone --quiet "$checkout" "$root/home/user/project"
inside=(env -i "${passed[@]}" LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
if [[ $as == user ]]; then
    chroot "$root" "${inside[@]}" HOME=/root bash /home/user/project/setup/install.sh system
    chroot "$root" chown -R user: /home/user
    inside=(setpriv --reuid user --regid user --clear-groups "${inside[@]}" HOME=/home/user)
else
    inside+=(HOME=/root)
fi
chroot "$root" "${inside[@]}" bash -c 'cd /home/user/project && exec "$@"' bash "$@"
