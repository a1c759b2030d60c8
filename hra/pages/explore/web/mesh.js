// The triangles of a cut in WebGL, turned with the pointer or the keyboard.
const VERTEX_PROGRAM = `#version 300 es
uniform highp usampler2D grid;
uniform mat4 transform;
uniform vec3 low, extent;
layout(location = 0) in uint corner;
layout(location = 1) in vec4 tint;
out vec3 place;
flat out vec4 colour;
void main() {
  int width = textureSize(grid, 0).x;
  uvec3 cell = texelFetch(grid, ivec2(int(corner) % width, int(corner) / width), 0).xyz;
  place = low + extent * vec3(cell) / 65535.0;
  colour = tint;
  gl_Position = transform * vec4(place, 1.0);
}`;
const PIXEL_PROGRAM = `#version 300 es
precision highp float;
uniform vec3 eye;
in vec3 place;
flat in vec4 colour;
out vec4 shown;
void main() {
  vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
  float light = 0.25 + 0.75 * abs(dot(normal, normalize(eye - place)));
  shown = vec4(colour.rgb * light, 1.0);
}`;
const TEXTURE_WIDTH = 2048;

class MeshView {
  modes = ["shaded", "by cluster", "by level: orange is the finest", "by error: red is the largest"];
  hint = "drag, or arrow keys on the picture, turn the mesh; triangles are spent for the first camera";

  constructor(record) {
    Object.assign(this, record);
    for (const name of ["positions", "corners", "offsets", "level", "error_rank"]) this[name] = unpack(record[name]);
    const [width, height] = record.camera.viewport;
    this.canvas = element("canvas", { width: 960, height: Math.round((960 * height) / width), tabindex: 0, role: "img", "aria-label": "the mesh at this budget" });
    this.yaw = this.pitch = 0;
    this.canvas.addEventListener("pointermove", (event) => event.buttons && this.turn(event.movementX / 150, event.movementY / 150));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }

  async load() {
    const gl = (this.gl = this.canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true }));
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.program = link(gl, VERTEX_PROGRAM, PIXEL_PROGRAM);
    this.at = uniforms(gl, this.program);
    this.buffers = [gl.createBuffer(), gl.createBuffer()];
    gl.enable(gl.DEPTH_TEST);
    this.uploadPositions(gl);
    this.tints = this.modes.map((_, mode) => this.offsets.subarray(1).map((_, cluster) => this.tint(mode, cluster)));
  }

  uploadPositions(gl) {
    const count = this.positions.length / 3, rows = Math.ceil(count / TEXTURE_WIDTH);
    const texels = new Uint16Array(4 * TEXTURE_WIDTH * rows);
    for (let i = 0; i < count; i++) for (let c = 0; c < 3; c++) texels[4 * i + c] = this.positions[3 * i + c];
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA16UI, TEXTURE_WIDTH, rows, 0, gl.RGBA_INTEGER, gl.UNSIGNED_SHORT, texels);
  }

  tint(mode, cluster) {
    if (mode === 0) return rgba(215, 210, 200);
    if (mode === 1) {
      const noise = Math.imul(cluster + 1, 2654435761) >>> 0;
      return rgba(80 + (noise & 127) * 1.3, 80 + ((noise >> 8) & 127) * 1.3, 80 + ((noise >> 16) & 127) * 1.3);
    }
    if (mode === 2) return rgba(...hex(levelColour(this.level[cluster])));
    const rank = this.error_rank[cluster];
    return rgba(60 + 0.75 * rank, 180 - 0.6 * rank, 90 - 0.2 * rank);
  }

  draw(track, step, mode) {
    const clusters = track.at(step), tints = this.tints[mode];
    let size = 0;
    for (const cluster of clusters) size += this.offsets[cluster + 1] - this.offsets[cluster];
    const corners = new Uint32Array(size), colours = new Uint32Array(size);
    let at = 0;
    for (const cluster of clusters) {
      const run = this.corners.subarray(this.offsets[cluster], this.offsets[cluster + 1]);
      corners.set(run, at);
      colours.fill(tints[cluster], at, at + run.length);
      at += run.length;
    }
    this.size = size;
    this.upload(corners, colours);
    this.render();
  }

  upload(corners, colours) {
    const gl = this.gl;
    for (const [place, array] of [corners, colours].entries()) {
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[place]);
      gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW);
      gl.enableVertexAttribArray(place);
      if (place === 0) gl.vertexAttribIPointer(0, 1, gl.UNSIGNED_INT, 0, 0);
      else gl.vertexAttribPointer(1, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    }
  }

  render() {
    const gl = this.gl, [low, high] = this.bounds;
    const { eye, matrix } = this.look(this.canvas.width / this.canvas.height);
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0.5, 0.5, 0.5, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniformMatrix4fv(this.at.transform, false, matrix);
    gl.uniform3fv(this.at.low, low);
    gl.uniform3fv(this.at.extent, high.map((value, i) => value - low[i]));
    gl.uniform3fv(this.at.eye, eye);
    gl.drawArrays(gl.TRIANGLES, 0, this.size);
  }

  look(aspect) {
    const { target, up, focal } = this.camera;
    const away = subtract(this.camera.eye, target), right = unit(cross(up, away)), above = unit(cross(away, right));
    const pitched = rotate(away, right, -this.pitch), eye = rotate(pitched, above, -this.yaw);
    const back = unit(eye), side = unit(cross(above, back)), top = cross(back, side);
    const distance = Math.hypot(...eye), reach = Math.hypot(...subtract(this.bounds[1], this.bounds[0]));
    const near = Math.max(distance - reach, distance / 1000), far = distance + reach;
    const place = eye.map((value, i) => value + target[i]);
    const rows = [side, top, back].map((axis) => [...axis, -dot(axis, place)]);
    // The picture is as high as the camera's, whatever its width.
    const scale = [focal / aspect, focal, -(far + near) / (far - near)], shift = (-2 * far * near) / (far - near);
    const matrix = new Float32Array(16);
    for (let c = 0; c < 4; c++) {
      for (let r = 0; r < 3; r++) matrix[4 * c + r] = scale[r] * rows[r][c] + (r === 2 && c === 3 ? shift : 0);
      matrix[4 * c + 3] = -rows[2][c];
    }
    return { eye: place, matrix };
  }

  turn(yaw, pitch) {
    this.yaw += yaw;
    this.pitch = Math.min(Math.max(this.pitch + pitch, -1.5), 1.5);
    this.render();
  }

  key(event) {
    const step = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] }[event.key];
    if (!step) return;
    event.preventDefault();
    this.turn(...step);
  }
}

function link(gl, ...sources) {
  const program = gl.createProgram();
  for (const [i, source] of sources.entries()) {
    const shader = gl.createShader(i ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  return program;
}

// Where the uniforms are; to ask in each frame would wait until the one before it is drawn.
function uniforms(gl, program) {
  const names = Array.from({ length: gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) }, (_, i) => gl.getActiveUniform(program, i).name);
  return Object.fromEntries(names.map((name) => [name, gl.getUniformLocation(program, name)]));
}

const rgba = (red, green, blue) => (Math.round(red) | (Math.round(green) << 8) | (Math.round(blue) << 16) | (255 << 24)) >>> 0;
const hex = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const subtract = (a, b) => a.map((value, i) => value - b[i]);
const unit = (a) => a.map((value) => value / Math.hypot(...a));
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

// Rodrigues' formula.
function rotate(vector, axis, angle) {
  const turned = cross(axis, vector), along = dot(axis, vector) * (1 - Math.cos(angle));
  return vector.map((value, i) => value * Math.cos(angle) + turned[i] * Math.sin(angle) + axis[i] * along);
}
