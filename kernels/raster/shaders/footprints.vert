// Draws one point or splat per instance: the pixels that it may reach, as a rectangle of two triangles.
layout(std430, binding = 0) readonly buffer Rows { float rows[]; };
layout(std430, binding = 1) readonly buffer Order { uint order[]; };

uniform mat4 to_eye;
uniform mat4 projection;
uniform vec2 viewport;
uniform float focal;  // pixels
uniform float near;

flat out vec2 center;  // pixels, rows from the top
flat out vec3 spread;  // what is one standard deviation: 1 / x across, leaning y, 1 / z down
flat out vec4 color;

const uint COLUMNS = 14u;
const float BLUR = 0.3, REACH = 3.0;  // pixels squared, standard deviations

float at(uint row, uint column) {
    return rows[row * COLUMNS + column];
}

// The slope of the projection at the centre (Zwicker and others 2001) times a factor of the covariance.
mat2x3 flattened(uint row, vec4 eye, vec4 clip) {
    vec3 first = vec3(at(row, 8u), 0.0, 0.0), second = vec3(at(row, 9u), at(row, 11u), 0.0);
    mat3 factor = transpose(mat3(first, second, vec3(at(row, 10u), at(row, 12u), at(row, 13u))));
    mat4 rows_of = transpose(projection);
    vec3 across = (rows_of[0].xyz - clip.x / clip.w * rows_of[3].xyz) / clip.w * viewport.x / 2.0;
    vec3 down = (rows_of[1].xyz - clip.y / clip.w * rows_of[3].xyz) / clip.w * viewport.y / -2.0;
    return mat2x3(across * mat3(to_eye) * factor, down * mat3(to_eye) * factor);
}

void main() {
    uint row = order[gl_InstanceID];
    vec4 eye = to_eye * vec4(at(row, 0u), at(row, 1u), at(row, 2u), 1.0);
    vec4 clip = projection * eye;
    center = (vec2(clip.x, -clip.y) / clip.w * 0.5 + 0.5) * viewport;
    color = vec4(at(row, 3u), at(row, 4u), at(row, 5u), at(row, 6u));
#if DISCS
    float radius = at(row, 7u) * focal / max(clip.w, 1e-30);
    spread = vec3(1.0, 0.0, 1.0) / radius;
    vec2 wide = vec2(radius);
    float depth = clip.z / clip.w;
#else
    mat2x3 sides = flattened(row, eye, clip);
    vec3 between = cross(sides[0], sides[1]);
    vec2 own = vec2(dot(sides[0], sides[0]), dot(sides[1], sides[1])), blurred = own + BLUR;
    // The determinant of the covariance as a sum, none of which is lost beside the product of two long sides.
    float area = dot(between, between) + BLUR * (own.x + own.y + BLUR);
    spread = vec3(inversesqrt(blurred.x), dot(sides[0], sides[1]) / blurred.x, sqrt(blurred.x / area));
    vec2 wide = REACH * sqrt(blurred);
    float depth = 0.0;  // drawn in their order
#endif
    vec2 low = clamp(floor(center - wide), vec2(0.0), viewport);
    vec2 high = clamp(floor(center + wide) + 1.0, vec2(0.0), viewport);
    vec2 corner = mix(low, high, vec2(gl_VertexID & 1, gl_VertexID >> 1)) / viewport;
    gl_Position = vec4(corner.x * 2.0 - 1.0, 1.0 - corner.y * 2.0, depth, 1.0);
    // All corners in one point outside of the view: nothing is drawn.
    if (-eye.z < near || !(spread.x > 0.0)) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
}
