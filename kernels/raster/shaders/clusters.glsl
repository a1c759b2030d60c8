// Clusters in pages, pages in slots of one buffer. A slot holds, for the n vertices of its page: the attributes, stream
// by stream, all of whole words; then n positions, three floats or three numbers of 16 bits on the mesh's grid; then a
// byte per corner, the vertex counted from the cluster's first one.

const uint NOWHERE = 0xFFFFFFFFu;

struct Cluster {
    float low_x, low_y, low_z, high_x, high_y, high_z;
    uint triangles, page, first_vertex, first_corner, mesh, number;
};

struct Mesh {
    vec4 grid;  // origin, step; step 0: positions are floats
    uint attribute_bytes, normals, uv, colors;  // bytes of a vertex, and those before each stream; NOWHERE without
    uint material, first_material, padding0, padding1;
};

layout(std430, binding = 0) readonly buffer Slots { uint slots[]; };
layout(std430, binding = 1) readonly buffer Clusters { Cluster clusters[]; };
layout(std430, binding = 2) readonly buffer Pages { uvec2 pages[]; };  // first word of the slot, vertices
layout(std430, binding = 3) readonly buffer Meshes { Mesh meshes[]; };
layout(std430, binding = 4) readonly buffer Candidates { uvec2 candidates[]; };  // instance, cluster
layout(std430, row_major, binding = 6) readonly buffer ToClip { mat4 to_clip[]; };

uint byte_at(uint place) { return bitfieldExtract(slots[place / 4u], int(place % 4u) * 8, 8); }

uint short_at(uint place) { return bitfieldExtract(slots[place / 4u], int(place % 4u) * 8, 16); }

// The vertex of the page that a corner of the cluster is.
uint vertex_of(Cluster cluster, uint corner) {
    Mesh mesh = meshes[cluster.mesh];
    uvec2 page = pages[cluster.page];
    uint position_bytes = mesh.grid.w > 0.0 ? 6u : 12u;
    uint begin = 4u * page.x + page.y * (mesh.attribute_bytes + position_bytes);
    return cluster.first_vertex + byte_at(begin + cluster.first_corner + corner);
}

vec3 position_of(Cluster cluster, uint vertex) {
    Mesh mesh = meshes[cluster.mesh];
    uvec2 page = pages[cluster.page];
    uint begin = 4u * page.x + page.y * mesh.attribute_bytes;
    if (mesh.grid.w > 0.0) {
        uint place = begin + 6u * vertex;
        // Exact: all points of a grid are.
        return mesh.grid.xyz + mesh.grid.w * vec3(short_at(place), short_at(place + 2u), short_at(place + 4u));
    }
    uint word = begin / 4u + 3u * vertex;
    return uintBitsToFloat(uvec3(slots[word], slots[word + 1u], slots[word + 2u]));
}

// The first word of a vertex's row of `bytes` bytes in the stream behind `before` bytes a vertex.
uint row_of(Cluster cluster, uint before, uint bytes, uint vertex) {
    uvec2 page = pages[cluster.page];
    return page.x + (page.y * before + bytes * vertex) / 4u;
}
