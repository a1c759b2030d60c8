// Draws one cluster per instance of the draw call: all have as many vertices as the largest one may need.
#include "clusters.glsl"

layout(std430, binding = 5) readonly buffer Listed { uint listed[]; };

flat out uvec2 drawn;  // candidate, triangle of the cluster

void main() {
    uint candidate = listed[gl_InstanceID];
    uvec2 pair = candidates[candidate];
    Cluster cluster = clusters[pair.y];
    uint triangle = uint(gl_VertexID) / 3u;
    drawn = uvec2(candidate, triangle);
    bool there = triangle < cluster.triangles && pages[cluster.page].x != NOWHERE;
    // All corners in one point outside of the view: nothing is drawn.
    gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
    if (there) {
        vec3 position = position_of(cluster, vertex_of(cluster, uint(gl_VertexID)));
        gl_Position = to_clip[pair.x] * vec4(position, 1.0);
    }
}
