// A ground of pages in WebGL: coarse pages first, finer ones over them, seen by the camera that they were chosen for.
const PAGE_VERTICES = `#version 300 es
uniform mat4 matrix;
uniform vec3 corner, across, down;
uniform vec4 box;
out vec2 at;
void main() {
  vec2 unit = vec2(gl_VertexID & 1, gl_VertexID >> 1);
  at = mix(box.xy, box.zw, unit);
  gl_Position = matrix * vec4(corner + at.x * across + at.y * down, 1.0);
}`;
const PAGE_PIXELS = `#version 300 es
precision highp float;
uniform sampler2D level;
uniform vec4 tint;
in vec2 at;
out vec4 shown;
void main() { shown = vec4(mix(texture(level, at).rgb, tint.rgb, tint.a), 1.0); }`;

class TextureView {
  modes = ["what the camera sees", "by level: orange is the finest"];
  hint = "the camera stands still; move the pool and watch the ground sharpen from near to far";

  constructor(record) {
    Object.assign(this, record);
    this.places = unpack(record.places);
    const [width, height] = record.viewport;
    this.canvas = element("canvas", { width, height, role: "img", "aria-label": "the ground with this pool" });
  }

  async load() {
    const gl = (this.gl = this.canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true }));
    if (!gl) throw new Error("this browser has no WebGL 2");
    this.program = link(gl, PAGE_VERTICES, PAGE_PIXELS);
    this.at = uniforms(gl, this.program);
    const images = await Promise.all(this.levels.map(decode));
    this.size = [images[0].width, images[0].height];
    this.textures = images.map((image) => upload(gl, image));
  }

  draw(track, step, mode) {
    const gl = this.gl, { matrix, corner, across, down, box, tint } = this.at;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(0.75, 0.83, 0.9, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniformMatrix4fv(matrix, false, this.matrix);
    gl.uniform3fv(corner, this.corner);
    gl.uniform3fv(across, this.sides[0]);
    gl.uniform3fv(down, this.sides[1]);
    const nodes = [...track.at(step)].sort((a, b) => this.places[3 * b] - this.places[3 * a]);
    for (const node of nodes) {
      const level = this.places[3 * node], [width, height] = this.size, side = this.patch * 2 ** level;
      const x = this.places[3 * node + 1] * side, y = this.places[3 * node + 2] * side;
      const colour = hex(levelColour(level)).map((value) => value / 255);
      gl.bindTexture(gl.TEXTURE_2D, this.textures[level]);
      gl.uniform4f(box, x / width, y / height, Math.min((x + side) / width, 1), Math.min((y + side) / height, 1));
      gl.uniform4f(tint, ...colour, mode ? 0.6 : 0);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    }
  }
}

function upload(gl, image) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
  // Minified as well: what a finer page leaves out would otherwise flicker.
  gl.generateMipmap(gl.TEXTURE_2D);
  for (const axis of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, axis, gl.CLAMP_TO_EDGE);
  return texture;
}
