// Meshes in .hra files over HTTP: a cut's pages by range requests, and a picture of them. docs/mesh-format.md says
// what stands where. Files with compressed pages need meshoptimizer's decoder, which the caller passes:
//
//   import { openAsset, draw } from "./asset.mjs";
//   const plan = await (await fetch("plan.json")).json(); // {"cut": [...], "view": [16], "projection": [16]}, by rows
//   const asset = await openAsset("skull.hra", { decoder: MeshoptDecoder });
//   draw(canvas, await asset.read(plan.cut), plan);

const MAGIC = [0x89, 0x48, 0x52, 0x41, 0x0d, 0x0a, 0x1a, 0x0a];
const HEADER = 64, ENTRY = 48, MOST_SECTIONS = 64;
const [BLOCK, CLUSTERS, PAGES, STREAM] = [0, 1, 2, 3];
const TYPES = {
  "<f4": Float32Array, "<f8": Float64Array, "<i4": Int32Array, "<i8": BigInt64Array,
  "<u2": Uint16Array, "<u4": Uint32Array, "<u8": BigUint64Array, "|u1": Uint8Array,
};

/** What is wrong with a file or a server. */
export class AssetError extends Error {}

/** Open the asset at `url`: reads header, directory and the tables that reading pages takes. */
export async function openAsset(url, { decoder = null } = {}) {
  const source = new Source(url);
  const header = await source.read(0, HEADER);
  const found = readHeader(header);
  const directory = await source.read(HEADER, HEADER + ENTRY * found.sections);
  check(directory, found.checksum, "the directory");
  const entries = readDirectory(directory, found);
  const tables = {};
  for (const name of ["added_by", "triangle_count", "vertex_count", "stored", "page_offset", "page_bytes", "page_end",
    "page_crc", "bounds", "grid", "origin"]) {
    const entry = entries.find((one) => one.name === name);
    if (entry) tables[name] = await readTable(source, entry);
  }
  if (found.version % 2 === 0 && !decoder) throw new AssetError("compressed pages need meshoptimizer's decoder");
  await decoder?.ready;
  return new Asset(source, found, entries.filter((one) => one.kind === STREAM), tables, decoder);
}

/** An open file; `source.bytes` and `source.requests` count what was read, all positions count from `origin`. */
class Asset {
  constructor(source, header, streams, tables, decoder) {
    Object.assign(this, { source, header, streams, tables, decoder });
    this.clusterCount = header.clusters;
    this.origin = [...tables.origin ?? [0, 0, 0]];
    const order = Array.from({ length: header.clusters }, (_, cluster) => cluster);
    const place = tables.stored ?? tables.added_by;
    // By place; clusters of one group stay by number, because sorting is stable.
    this.order = order.sort((a, b) => place[a] - place[b]);
    this.placeOf = new Uint32Array(header.clusters);
    this.order.forEach((cluster, at) => { this.placeOf[cluster] = at; });
  }

  /** The page of a cluster. */
  pageOf(cluster) {
    const place = this.placeOf[cluster];
    let low = 0, high = this.header.pages - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tables.page_end[middle] > place) high = middle; else low = middle + 1;
    }
    return low;
  }

  /** The clusters `cut`: streams by name over the vertices of their pages, and `triangles`, Uint32Array. */
  async read(cut) {
    for (const cluster of cut) {
      if (!Number.isInteger(cluster) || cluster < 0 || cluster >= this.clusterCount) throw new AssetError(`no cluster ${cluster}`);
    }
    const wanted = new Set(cut);
    const pages = [...new Set(cut.map((cluster) => this.pageOf(cluster)))].sort((a, b) => a - b);
    const contents = await this.fetchPages(pages);
    const parts = pages.map((page, k) => this.decode(page, contents[k], wanted));
    return joined(parts, this.streams);
  }

  /** The bytes of `pages`; those that lie side by side come by one request. */
  async fetchPages(pages) {
    const { page_offset: offset, page_bytes: length, page_crc: crc } = this.tables;
    const runs = [];
    for (const page of pages) {
      const run = runs.at(-1);
      if (run && run.at(-1) === page - 1) run.push(page); else runs.push([page]);
    }
    const read = await Promise.all(runs.map(async (run) => {
      const begin = Number(offset[run[0]]), last = run.at(-1);
      const data = await this.source.read(begin, Number(offset[last]) + length[last]);
      return run.map((page) => {
        const at = Number(offset[page]) - begin;
        const content = data.slice(at, at + length[page]);
        check(content, crc[page], `page ${page}`);
        return content;
      });
    }));
    return read.flat();
  }

  /** Streams of one page and the corners of its clusters that are `wanted`, as rows of these. */
  decode(page, content, wanted) {
    const first = page ? this.tables.page_end[page - 1] : 0;
    const clusters = this.order.slice(first, this.tables.page_end[page]);
    const decoded = this.header.version % 2 === 0 ? this.unpack(content, clusters) : this.split(content, clusters);
    const corners = [];
    let at = 0;
    for (const cluster of clusters) {
      const end = at + 3 * this.tables.triangle_count[cluster];
      if (wanted.has(cluster)) for (let i = at; i < end; i++) corners.push(decoded.corners[i]);
      at = end;
    }
    return { count: decoded.count, streams: decoded.streams, corners };
  }

  /** A page of version 1: vertex numbers, streams, corners that count within their cluster. */
  split(content, clusters) {
    const { vertex_count: vertices, triangle_count: triangles } = this.tables;
    const count = clusters.reduce((sum, cluster) => sum + vertices[cluster], 0);
    let at = 4 * count;
    const streams = {};
    for (const { name, type, columns } of this.streams) {
      const size = count * columns * TYPES[type].BYTES_PER_ELEMENT;
      streams[name] = new TYPES[type](content.slice(at, at + size).buffer);
      at += size;
    }
    const local = content.subarray(at);
    const corners = new Uint32Array(local.length);
    let corner = 0, row = 0;
    for (const cluster of clusters) {
      for (let i = 0; i < 3 * triangles[cluster]; i++, corner++) {
        if (local[corner] >= vertices[cluster]) throw new AssetError("a corner is not a vertex of its cluster");
        corners[corner] = row + local[corner];
      }
      row += vertices[cluster];
    }
    return { count, streams, corners };
  }

  /** A page of version 2: lengths, vertex numbers, streams and corners, all but the lengths compressed. */
  unpack(content, clusters) {
    const parts = this.streams.length + 2;
    const head = new Uint32Array(content.slice(0, 4 * (parts + 1)).buffer);
    const count = head[0], streams = {};
    let at = 4 * (parts + 1) + head[1];
    this.streams.forEach(({ name, type, columns }, k) => {
      const width = name === "position" ? 8 : columns * TYPES[type].BYTES_PER_ELEMENT;
      const raw = new Uint8Array(count * width);
      this.decoder.decodeVertexBuffer(raw, count, width, content.subarray(at, at + head[k + 2]));
      streams[name] = name === "position" ? this.points(new Uint16Array(raw.buffer), count) : new TYPES[type](raw.buffer);
      at += head[k + 2];
    });
    const size = clusters.reduce((sum, cluster) => sum + 3 * this.tables.triangle_count[cluster], 0);
    const raw = new Uint8Array(4 * size);
    this.decoder.decodeIndexBuffer(raw, size, 4, content.subarray(at, at + head[parts]));
    const corners = new Uint32Array(raw.buffer);
    if (corners.some((corner) => corner >= count)) throw new AssetError("a corner is not a vertex of its page");
    return { count, streams, corners };
  }

  /** Places on the grid, four numbers each, as positions. */
  points(places, count) {
    const [x, y, z, step] = this.tables.grid, origin = [x, y, z];
    const positions = new Float32Array(3 * count);
    for (let i = 0; i < positions.length; i++) {
      positions[i] = origin[i % 3] + step * places[4 * Math.floor(i / 3) + (i % 3)];
    }
    return positions;
  }
}

/** A file on a server that answers range requests. */
class Source {
  constructor(url) {
    Object.assign(this, { url, bytes: 0, requests: 0 });
  }

  async read(begin, end) {
    const answer = await fetch(this.url, { headers: { Range: `bytes=${begin}-${end - 1}` } });
    if (answer.status !== 206) throw new AssetError(`the server answers a range request with ${answer.status}`);
    const data = new Uint8Array(await answer.arrayBuffer());
    if (data.length !== end - begin) throw new AssetError(`${data.length} bytes came instead of ${end - begin}`);
    this.bytes += data.length;
    this.requests++;
    return data;
  }
}

function readHeader(data) {
  if (MAGIC.some((byte, i) => data[i] !== byte)) throw new AssetError("this is no .hra file");
  const view = new DataView(data.buffer);
  check(data.subarray(0, 60), view.getUint32(60, true), "the header");
  const version = view.getUint32(12, true), sections = view.getUint32(48, true);
  if (version < 1 || version > 4) throw new AssetError(`version ${version} is not read`);
  if (sections > MOST_SECTIONS) throw new AssetError(`${sections} sections`);
  return {
    version, sections, clusters: view.getUint32(40, true), pages: view.getUint32(44, true),
    checksum: view.getUint32(52, true),
  };
}

function readDirectory(data, header) {
  const view = new DataView(data.buffer);
  const text = (at, length) => String.fromCharCode(...data.subarray(at, at + length)).replace(/\0+$/, "");
  return Array.from({ length: header.sections }, (_, k) => {
    const at = ENTRY * k, layers = view.getUint16(at + 22, true) || 1;
    return {
      name: text(at, 16), type: text(at + 16, 4), columns: (view.getUint16(at + 20, true) || 1) * layers,
      offset: Number(view.getBigUint64(at + 24, true)), rows: Number(view.getBigUint64(at + 32, true)),
      checksum: view.getUint32(at + 40, true), kind: view.getUint32(at + 44, true),
    };
  });
}

async function readTable(source, { name, type, columns, offset, rows, checksum, kind }) {
  if (![BLOCK, CLUSTERS, PAGES].includes(kind) || !(type in TYPES)) throw new AssetError(`section ${name} is not a table`);
  const data = await source.read(offset, offset + rows * columns * TYPES[type].BYTES_PER_ELEMENT);
  check(data, checksum, `section ${name}`);
  return new TYPES[type](data.buffer);
}

function joined(parts, forms) {
  const total = parts.reduce((sum, part) => sum + part.count, 0);
  const streams = {};
  for (const { name, type, columns } of forms) {
    const kind = name === "position" ? Float32Array : TYPES[type];
    streams[name] = new kind(total * columns);
    let at = 0;
    for (const part of parts) {
      streams[name].set(part.streams[name], at);
      at += part.count * columns;
    }
  }
  const triangles = new Uint32Array(parts.reduce((sum, part) => sum + part.corners.length, 0));
  let first = 0, at = 0;
  for (const { count, corners } of parts) {
    for (const corner of corners) triangles[at++] = first + corner;
    first += count;
  }
  return { ...streams, triangles };
}

let table = null;

/** CRC-32 as in PNG and ZIP. */
function crc32(data) {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    for (let bit = 0; bit < 8; bit++) byte = byte & 1 ? (byte >>> 1) ^ 0xedb88320 : byte >>> 1;
    return byte;
  });
  let value = 0xffffffff;
  for (const byte of data) value = table[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}

function check(data, expected, what) {
  if (crc32(data) !== expected) throw new AssetError(`${what} is damaged`);
}

const VERTEX = `#version 300 es
in vec3 position;
in vec4 colors;
uniform mat4 view, projection;
out vec3 place;
out vec4 colour;
void main() {
  vec4 eye = view * vec4(position, 1.0);
  place = eye.xyz;
  colour = colors;
  gl_Position = projection * eye;
}`;
// Lit from the eye, flat: what has no normals shows its triangles.
const FRAGMENT = `#version 300 es
precision highp float;
in vec3 place;
in vec4 colour;
out vec4 result;
void main() {
  vec3 normal = normalize(cross(dFdx(place), dFdy(place)));
  result = vec4(colour.rgb * (0.25 + 0.75 * abs(dot(normal, normalize(place)))), 1.0);
}`;

/** Draw what `Asset.read` gave; `view` and `projection` are 16 numbers each, row by row as in Python. */
export function draw(canvas, mesh, { view, projection, background = [0, 0, 0, 1] }) {
  const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
  if (!gl) throw new AssetError("the browser has no WebGL 2");
  const program = linked(gl);
  gl.viewport(0, 0, canvas.width, canvas.height);
  gl.clearColor(...background);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  gl.enable(gl.DEPTH_TEST);
  gl.useProgram(program);
  gl.uniformMatrix4fv(gl.getUniformLocation(program, "view"), true, view.flat());
  gl.uniformMatrix4fv(gl.getUniformLocation(program, "projection"), true, projection.flat());
  fill(gl, program, "position", mesh.position, 3, gl.FLOAT);
  if (mesh.colors) fill(gl, program, "colors", mesh.colors, 4, gl.UNSIGNED_BYTE);
  else gl.vertexAttrib4f(gl.getAttribLocation(program, "colors"), 0.85, 0.82, 0.75, 1);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.triangles, gl.STATIC_DRAW);
  gl.drawElements(gl.TRIANGLES, mesh.triangles.length, gl.UNSIGNED_INT, 0);
}

function linked(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new AssetError(gl.getProgramInfoLog(program));
  return program;
}

function fill(gl, program, name, data, columns, type) {
  const place = gl.getAttribLocation(program, name);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
  gl.enableVertexAttribArray(place);
  gl.vertexAttribPointer(place, columns, type, type === gl.UNSIGNED_BYTE, 0, 0);
}
