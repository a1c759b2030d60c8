// Khronos' validator on all GLB files of folders, as they are and with every stream unpacked: it does not know
// EXT_meshopt_compression, so that only the second time it sees positions, normals and indices.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import validator from 'gltf-validator';
import { MeshoptDecoder } from 'three/addons/libs/meshopt_decoder.module.js';

const COMPRESSION = 'EXT_meshopt_compression';

function unpacked( file ) {

	const length = file.readUInt32LE( 12 );
	const header = JSON.parse( file.toString( 'utf8', 20, 20 + length ) );
	const binary = file.subarray( 28 + length );
	const parts = [];
	let size = 0;
	for ( const view of header.bufferViews ) {

		const packed = view.extensions?.[ COMPRESSION ];
		let content = binary.subarray( view.byteOffset ?? 0, ( view.byteOffset ?? 0 ) + view.byteLength );
		if ( packed ) {

			content = new Uint8Array( packed.count * packed.byteStride );
			const source = binary.subarray( packed.byteOffset, packed.byteOffset + packed.byteLength );
			MeshoptDecoder.decodeGltfBuffer( content, packed.count, packed.byteStride, source, packed.mode, packed.filter );

		}

		delete view.extensions;
		Object.assign( view, { buffer: 0, byteOffset: size } );
		parts.push( Buffer.from( content ), Buffer.alloc( ( 4 - content.length % 4 ) % 4 ) );
		size += content.length + parts.at( - 1 ).length;

	}

	header.buffers = [ { byteLength: size } ];
	for ( const key of [ 'extensionsUsed', 'extensionsRequired' ] ) {

		header[ key ] = ( header[ key ] ?? [] ).filter( name => name !== COMPRESSION );
		if ( ! header[ key ].length ) delete header[ key ];

	}

	const text = Buffer.from( JSON.stringify( header ) );
	const json = Buffer.concat( [ text, Buffer.alloc( ( 4 - text.length % 4 ) % 4, ' ' ) ] );
	const head = Buffer.alloc( 20 ), chunk = Buffer.alloc( 8 );
	[ 0x46546c67, 2, 28 + json.length + size, json.length, 0x4e4f534a ].forEach( ( v, i ) => head.writeUInt32LE( v, 4 * i ) );
	[ size, 0x004e4942 ].forEach( ( v, i ) => chunk.writeUInt32LE( v, 4 * i ) );
	return Buffer.concat( [ head, json, chunk, ...parts ] );

}

await MeshoptDecoder.ready;
for ( const folder of process.argv.slice( 2 ) ) {

	const found = { files: 0, errors: 0, warnings: 0, codes: {} };
	for ( const name of readdirSync( folder ).filter( name => name.endsWith( '.glb' ) ) ) {

		const file = readFileSync( join( folder, name ) );
		for ( const content of [ file, unpacked( file ) ] ) {

			const { issues } = await validator.validateBytes( new Uint8Array( content ), { maxIssues: 0 } );
			found.errors += issues.numErrors;
			found.warnings += issues.numWarnings;
			for ( const { code, severity } of issues.messages ) {

				if ( severity < 2 ) found.codes[ code ] = ( found.codes[ code ] ?? 0 ) + 1;

			}

		}

		found.files ++;

	}

	console.log( JSON.stringify( found ) );

}
