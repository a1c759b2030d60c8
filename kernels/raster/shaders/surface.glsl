// The point of a cluster's triangle that a pixel shows, from the visibility buffer. Needs clusters.glsl.
// Burns and Hunt, The Visibility Buffer, JCGT 2013; barycentric coordinates in homogeneous coordinates after Olano and
// Greer, Triangle Scan Conversion using 2D Homogeneous Coordinates, 1997, which holds behind the eye, too.

struct Triangle { Cluster cluster; uint vertices[3]; vec3 positions[3]; mat3 to_weights; };

Triangle triangle_of(uvec2 pair, uint triangle) {
    Triangle found;
    found.cluster = clusters[pair.y];
    mat3 corners;
    for (uint k = 0u; k < 3u; k++) {
        found.vertices[k] = vertex_of(found.cluster, 3u * triangle + k);
        found.positions[k] = position_of(found.cluster, found.vertices[k]);
        vec4 clip = to_clip[pair.x] * vec4(found.positions[k], 1.0);
        corners[k] = clip.xyw;
    }
    // Weights are ratios: without the size of the mesh, whose third power may not fit a float.
    vec3 ends = max(max(abs(corners[0]), abs(corners[1])), abs(corners[2]));
    corners /= max(max(ends.x, ends.y), ends.z);
    found.to_weights = inverse(corners);
    return found;
}

// Weights of the corners where a ray through `place`, in -1 .. 1, meets the triangle's plane.
vec3 weights_at(Triangle triangle, vec2 place) {
    vec3 weights = triangle.to_weights * vec3(place, 1.0);
    return weights / (weights.x + weights.y + weights.z);
}
