// Writes openapi/gateway.json; a test compares the file with the code.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { gatewayOpenApi } from './openapi.ts';

const file = path.join(import.meta.dirname, '../../../../openapi/gateway.json');
writeFileSync(file, `${JSON.stringify(gatewayOpenApi(), null, 2)}\n`);
