// 3d-tiles-renderer without a browser: loads a tileset over the loopback, selects tiles for a path of cameras with a
// cache of so many bytes, and says what it held, drew, refused and loaded again. Input: one JSON object; output: one.
globalThis.window = { location: { href: 'http://127.0.0.1/' } };
globalThis.requestAnimationFrame = call => setTimeout( call, 0 );
globalThis.cancelAnimationFrame = handle => clearTimeout( handle );
console.warn = () => {};
const { TilesRendererBase, LRUCache } = await import( '3d-tiles-renderer/core' );

const task = JSON.parse( process.argv[ 2 ] );
const { url, cache, target, frames, updates } = task;

// Box around a bounding volume, in the frame of its tile.
function boxOf( volume ) {

	if ( volume.sphere ) {

		const [ x, y, z, r ] = volume.sphere;
		return [ [ x - r, y - r, z - r ], [ x + r, y + r, z + r ] ];

	}

	const b = volume.box;
	const reach = [ 0, 1, 2 ].map( i => Math.abs( b[ 3 + i ] ) + Math.abs( b[ 6 + i ] ) + Math.abs( b[ 9 + i ] ) );
	return [ reach.map( ( r, i ) => b[ i ] - r ), reach.map( ( r, i ) => b[ i ] + r ) ];

}

class Renderer extends TilesRendererBase {

	view = null;
	loads = 0;

	calculateTileViewError( tile, target ) {

		const [ low, high ] = boxOf( tile.boundingVolume );
		const { eye, planes, scale } = this.view;
		const distance = Math.hypot( ...eye.map( ( v, i ) => Math.max( low[ i ] - v, 0, v - high[ i ] ) ) );
		// The corner that is farthest along each plane's normal.
		target.inView = planes.every( ( [ a, b, c, d ] ) =>
			a * ( a > 0 ? high : low )[ 0 ] + b * ( b > 0 ? high : low )[ 1 ] + c * ( c > 0 ? high : low )[ 2 ] + d >= 0 );
		target.error = distance > 0 ? tile.geometricError * scale / distance : Infinity;
		target.distanceFromCamera = distance;

	}

	parseTile( buffer, tile ) {

		tile.engineData.bytes = buffer.byteLength;
		this.loads ++;
		return Promise.resolve();

	}

	disposeTile( tile ) {

		super.disposeTile( tile );
		tile.engineData.bytes = 0;

	}

	calculateBytesUsed( tile ) {

		return tile.engineData.bytes ?? 0;

	}

}

const renderer = new Renderer( url );
renderer.registerPlugin( { calculateBytesUsed: tile => renderer.calculateBytesUsed( tile ) } );
const callback = renderer.lruCache.unloadPriorityCallback;
renderer.lruCache = new LRUCache();
renderer.lruCache.unloadPriorityCallback = callback;
renderer.lruCache.maxBytesSize = cache;
renderer.lruCache.minBytesSize = 0.75 * cache;
renderer.errorTarget = target;
const failures = [];
renderer.addEventListener( 'load-error', ( { url, error } ) => failures.push( `${ url }: ${ error }` ) );
const seen = new Map();
renderer.addEventListener( 'tile-download-start', ( { url } ) => seen.set( url, ( seen.get( url ) ?? 0 ) + 1 ) );

const pause = milliseconds => new Promise( done => setTimeout( done, milliseconds ) );
renderer.view = frames[ 0 ];
renderer.update();
while ( ! renderer.rootTileset ) await pause( 5 );
let refused = 0;
const drawn = [], most = [];
for ( const frame of frames ) {

	renderer.view = frame;
	let largest = 0;
	for ( let k = 0; k < updates; k ++ ) {

		renderer.update();
		refused += renderer.stats.refused ?? 0;
		// One turn of the event loop at a time, until what was begun has ended.
		for ( let wait = 0; wait < 400 && renderer.isLoading && renderer.loadProgress < 1; wait ++ ) await pause( 1 );
		largest = Math.max( largest, renderer.lruCache.cachedBytes );

	}

	const tiles = [ ...renderer.visibleTiles ].map( tile => ( {
		uri: tile.content.uri, error: tile.traversal.error, bytes: tile.engineData.bytes } ) );
	drawn.push( tiles );
	most.push( largest );

}

const loads = [ ...seen.values() ].reduce( ( a, b ) => a + b, 0 );
console.log( JSON.stringify( { tiles: drawn, most, refused, loads, reloads: loads - seen.size, failures } ) );
process.exit( 0 );
