// gltfpack in one process after its start: CPU seconds of each job { name, source, targets: [ { file, flags } ] } of the
// JSON file that is named, everything once before.
import fs from 'fs';
import { createRequire } from 'module';
import { pathToFileURL } from 'url';

const { pack } = await import( pathToFileURL( createRequire( process.cwd() + '/' ).resolve( 'gltfpack' ) ) );
const files = { read: path => fs.readFileSync( path ), write: ( path, data ) => fs.writeFileSync( path, data ) };
const jobs = JSON.parse( fs.readFileSync( process.argv[ 2 ] ) ), seconds = {};
for ( const kept of [ false, true ] ) for ( const job of jobs ) {

	const begin = process.cpuUsage();
	for ( const { file, flags } of job.targets ) await pack( [ '-i', job.source, '-o', file, ...flags ], files );
	const used = process.cpuUsage( begin );
	if ( kept ) seconds[ job.name ] = ( used.user + used.system ) / 1e6;

}
console.log( JSON.stringify( seconds ) );
