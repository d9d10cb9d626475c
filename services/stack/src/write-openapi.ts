// Writes openapi/stack.json from the routes; a test compares the two.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stackOpenApi } from './routes/index.ts';

const file = path.join(import.meta.dirname, '../../../openapi/stack.json');
writeFileSync(file, `${JSON.stringify(stackOpenApi(), null, 2)}\n`);
