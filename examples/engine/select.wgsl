// SPDX-License-Identifier: MIT-0 (LICENSES/MIT-0.txt): copy it into your engine without a notice.
//
// Which clusters of an .hra file a frame draws, on the GPU: the rule of docs/mesh-format.md, "What a renderer draws".
// `refine` runs once for each group, `draw` after it once for each cluster. `draw` appends to a list, in no order.

struct Lens {
  x: vec4f, y: vec4f, z: vec4f,  // rows of the world-to-view matrix, looking along -z
  focal: f32, near_plane: f32, corner_cosine: f32, tolerance: f32,
}

@group(0) @binding(0) var<uniform> lens: Lens;
@group(0) @binding(1) var<storage, read> sphere: array<vec4f>;          // of each group: centre, radius
@group(0) @binding(2) var<storage, read> error: array<f32>;             // of each group, object units
@group(0) @binding(3) var<storage, read> links: array<vec2i>;           // of each cluster: added_by, removed_by
@group(0) @binding(4) var<storage, read_write> refined: array<u32>;     // of each group
@group(0) @binding(5) var<storage, read_write> drawn: array<atomic<u32>>;  // their count, then clusters

// The most pixels that a unit of length covers anywhere in the visible part of a sphere.
fn pixels(s: vec4f) -> f32 {
  let centre = vec4f(s.xyz, 1.0);
  let depth = -dot(lens.z, centre);
  let lateral = length(vec2f(dot(lens.x, centre), dot(lens.y, centre)));
  let distance = length(vec2f(lateral, depth));
  var cosine = lens.corner_cosine;
  if (distance > s.w) {
    // cos(t + a): t is the angle of the centre from the axis, a half of what the sphere takes up.
    let sine = s.w / distance;
    let along = sqrt(max(1.0 - sine * sine, 0.0));
    cosine = max(cosine, (depth * along - lateral * sine) / distance);
  }
  return lens.focal / (max(distance - s.w, lens.near_plane) * cosine * cosine);
}

@compute @workgroup_size(64)
fn refine(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < arrayLength(&error)) {
    refined[id.x] = u32(error[id.x] * pixels(sphere[id.x]) > lens.tolerance);
  }
}

@compute @workgroup_size(64)
fn draw(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= arrayLength(&links)) {
    return;
  }
  let link = links[id.x];
  let reached = link.x < 0 || refined[max(link.x, 0)] != 0u;
  let passed = link.y >= 0 && refined[max(link.y, 0)] != 0u;
  if (reached && !passed) {
    atomicStore(&drawn[1u + atomicAdd(&drawn[0], 1u)], id.x);
  }
}
