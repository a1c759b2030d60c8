// 3d-tiles-renderer without a browser: loads a tileset over the loopback, selects tiles for a path of cameras with a
// cache of so many bytes, and says what it held, drew, refused and loaded again. Input: a file of JSON; output: a line.
import { readFileSync } from 'node:fs';
globalThis.window = { location: { href: 'http://127.0.0.1/' } };
globalThis.requestAnimationFrame = call => setTimeout( call, 0 );
globalThis.cancelAnimationFrame = handle => clearTimeout( handle );
console.warn = () => {};
const { TilesRendererBase, LRUCache } = await import( '3d-tiles-renderer/core' );

const task = JSON.parse( readFileSync( process.argv[ 2 ] ) );
const { url, cache, target, frames, updates } = task;
const base = url.replace( /[^/]*$/, '' );

const seen = new Map();

class Renderer extends TilesRendererBase {

	view = null;

	fetchData( url, options ) {

		seen.set( url, ( seen.get( url ) ?? 0 ) + 1 );
		return super.fetchData( url, options );

	}

	calculateTileViewError( tile, target ) {

		// Pixels and distance of each content by its place below the tileset, and whether it is in view.
		const name = tile.content ? tile.internal.basePath + '/' + tile.content.uri : '';
		const [ error, distance, inView ] = this.view[ name.slice( base.length ) ] ?? [ Infinity, 0, true ];
		target.inView = inView;
		target.error = error;
		target.distanceFromCamera = distance;

	}

	parseTile( buffer, tile ) {

		tile.engineData.bytes = buffer.byteLength;
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
renderer.dispatchEvent = event => event.type === 'load-error' && failures.push( `${ event.url }: ${ event.error }` );

const pause = milliseconds => new Promise( done => setTimeout( done, milliseconds ) );
renderer.view = frames[ 0 ];
renderer.update();
while ( ! renderer.rootTileset ) await pause( 5 );
let refused = 0;
const drawn = [], held = [], loaded = [], most = [];
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

	held.push( renderer.lruCache.cachedBytes );
	loaded.push( [ ...renderer.lruCache.loadedSet ].filter( tile => tile.internal.hasRenderableContent )
		.map( tile => ( tile.internal.basePath + '/' + tile.content.uri ).slice( base.length ) ) );
	const tiles = [ ...renderer.visibleTiles ].map( tile => ( {
		uri: tile.content.uri, error: tile.traversal.error, bytes: tile.engineData.bytes } ) );
	drawn.push( tiles );
	most.push( largest );

}

const loads = [ ...seen.values() ].reduce( ( a, b ) => a + b, 0 );
console.log( JSON.stringify( { tiles: drawn, held, loaded, most, refused, loads, reloads: loads - seen.size, failures } ) );
process.exit( 0 );
