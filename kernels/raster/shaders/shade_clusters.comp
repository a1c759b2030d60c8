// Colours of a visibility buffer.
// Constants: PALETTE (0: material and light, 1: a colour for each cluster).
#include "clusters.glsl"
#include "surface.glsl"

layout(local_size_x = 8, local_size_y = 8) in;

struct Material { vec4 color; uint first_level, levels, wrap_u, wrap_v; };  // levels 0: no texture

layout(std430, binding = 7) readonly buffer Placements { dvec4 placements[]; };  // three rows each
layout(std430, binding = 8) readonly buffer Palette { uint palette[]; };         // RGBA of each cluster
layout(std430, binding = 9) readonly buffer Materials { Material materials[]; };
layout(std430, binding = 10) readonly buffer Levels { uvec4 levels[]; };  // of textures: width, height, first texel
layout(std430, binding = 11) readonly buffer Texels { uint texels[]; };   // RGBA, sRGB

layout(binding = 0) uniform usampler2D visible;
layout(rgba8, binding = 0) writeonly uniform image2D picture;

uniform vec3 eye, background;

vec3 to_linear(vec3 c) { return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), greaterThan(c, vec3(0.04045))); }

vec3 to_srgb(vec3 c) {
    return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, greaterThan(c, vec3(0.0031308)));
}

vec2 float_pair(Triangle t, uint before, vec3 weights) {
    vec2 sum = vec2(0.0);
    for (uint k = 0u; k < 3u; k++) {
        uint word = row_of(t.cluster, before, 8u, t.vertices[k]);
        sum += weights[k] * uintBitsToFloat(uvec2(slots[word], slots[word + 1u]));
    }
    return sum;
}

vec3 float_triple(Triangle t, uint before, vec3 weights) {
    vec3 sum = vec3(0.0);
    for (uint k = 0u; k < 3u; k++) {
        uint word = row_of(t.cluster, before, 12u, t.vertices[k]);
        sum += weights[k] * uintBitsToFloat(uvec3(slots[word], slots[word + 1u], slots[word + 2u]));
    }
    return sum;
}

vec4 vertex_color(Triangle t, uint before, vec3 weights) {
    vec4 sum = vec4(0.0);
    for (uint k = 0u; k < 3u; k++) sum += weights[k] * unpackUnorm4x8(slots[row_of(t.cluster, before, 4u, t.vertices[k])]);
    return sum;
}

// Numbers of glTF: 33071 clamps, 33648 mirrors, else it repeats.
int wrapped(int at, int size, uint how) {
    if (how == 33071u) return clamp(at, 0, size - 1);
    int period = how == 33648u ? 2 * size : size, place = at - period * int(floor(float(at) / float(period)));
    return place < size ? place : 2 * size - 1 - place;
}

vec3 texel(uvec4 level, ivec2 at, Material m) {
    ivec2 size = ivec2(level.xy);
    uint place = uint(wrapped(at.y, size.y, m.wrap_v) * size.x + wrapped(at.x, size.x, m.wrap_u));
    return to_linear(unpackUnorm4x8(texels[level.z + place]).rgb);
}

vec3 bilinear(Material m, uint number, vec2 uv) {
    uvec4 level = levels[m.first_level + number];
    vec2 at = uv * vec2(level.xy) - 0.5, part = fract(at);
    ivec2 low = ivec2(floor(at));
    vec3 upper = mix(texel(level, low, m), texel(level, low + ivec2(1, 0), m), part.x);
    vec3 lower = mix(texel(level, low + ivec2(0, 1), m), texel(level, low + 1, m), part.x);
    return mix(upper, lower, part.y);
}

// Trilinear, with the level of the longer side of the pixel's footprint.
vec3 textured(Material m, vec2 uv, vec2 beside, vec2 below) {
    vec2 size = vec2(levels[m.first_level].xy);
    float wide = max(length((beside - uv) * size), length((below - uv) * size));
    float level = clamp(log2(max(wide, 1e-6)), 0.0, float(m.levels) - 1.0);
    uint fine = uint(level), coarse = min(fine + 1u, m.levels - 1u);
    return mix(bilinear(m, fine, uv), bilinear(m, coarse, uv), fract(level));
}

// Linear base colour.
vec3 base_color(Triangle t, Mesh mesh, vec3 weights, vec3 beside, vec3 below) {
    vec3 color = mesh.material == NOWHERE ? to_linear(vec3(0.85, 0.82, 0.77)) : vec3(1.0);
    if (mesh.colors != NOWHERE) {
        vec3 stored = vertex_color(t, mesh.colors, weights).rgb;
        color = mesh.material == NOWHERE ? to_linear(stored) : stored;  // glTF's are linear
    }
    if (mesh.material == NOWHERE) return color;
    Material m = materials[mesh.first_material + slots[row_of(t.cluster, mesh.material, 4u, t.vertices[0])]];
    color *= m.color.rgb;
    if (m.levels == 0u || mesh.uv == NOWHERE) return color;
    vec2 uv = float_pair(t, mesh.uv, weights);
    return color * textured(m, uv, float_pair(t, mesh.uv, beside), float_pair(t, mesh.uv, below));
}

float largest(vec3 v) { return max(max(abs(v.x), abs(v.y)), abs(v.z)); }

// The direction of a vector whose squares may not fit a float: those of meshes in nanometres, or in light years.
vec3 sized(vec3 v) {
    float scale = largest(v);
    return scale > 0.0 ? v / scale : v;
}

// Share of light of a lamp at the eye.
float light(Triangle t, Mesh mesh, vec3 weights, uint copy) {
    mat4x3 to_world;
    for (uint row = 0u; row < 3u; row++)
        for (int column = 0; column < 4; column++) to_world[column][row] = float(placements[3u * copy + row][column]);
    vec3 edge = t.positions[1] - t.positions[0], other = t.positions[2] - t.positions[0];
    vec3 normal = sized(cross(sized(edge), sized(other)));
    if (mesh.normals != NOWHERE) normal = float_triple(t, mesh.normals, weights);
    // Normals turn by the cofactors of the linear part.
    mat3 linear = mat3(to_world);
    linear /= max(max(largest(linear[0]), largest(linear[1])), largest(linear[2]));
    mat3 turned = mat3(cross(linear[1], linear[2]), cross(linear[2], linear[0]), cross(linear[0], linear[1]));
    vec3 point = weights.x * t.positions[0] + weights.y * t.positions[1] + weights.z * t.positions[2];
    vec3 towards = sized(eye - to_world * vec4(point, 1.0)), facing = sized(turned * normal);
    float scale = length(towards) * length(facing);
    return 0.25 + 0.75 * (scale > 0.0 ? abs(dot(towards, facing)) / scale : 1.0);
}

vec3 shaded(uvec2 found, vec2 place, vec2 step) {
    uvec2 pair = candidates[found.x];
    Triangle t = triangle_of(pair, found.y);
    Mesh mesh = meshes[t.cluster.mesh];
    vec3 weights = weights_at(t, place);
    float lit = light(t, mesh, weights, pair.x);
#if PALETTE
    return to_linear(unpackUnorm4x8(palette[pair.y]).rgb) * lit;
#else
    vec3 beside = weights_at(t, place + vec2(step.x, 0.0)), below = weights_at(t, place - vec2(0.0, step.y));
    return base_color(t, mesh, weights, beside, below) * lit;
#endif
}

void main() {
    ivec2 pixel = ivec2(gl_GlobalInvocationID.xy), size = imageSize(picture);
    if (any(greaterThanEqual(pixel, size))) return;
    uvec2 found = texelFetch(visible, pixel, 0).xy;
    vec2 step = 2.0 / vec2(size), place = (vec2(pixel) + 0.5) * step - 1.0;
    vec3 color = found.x == NOWHERE ? background : to_srgb(shaded(found, vec2(place.x, -place.y), step));
    imageStore(picture, pixel, vec4(color, 1.0));
}
