// Writes catalog/provider.schema.json, to which the files of the catalog refer: editors complete and check entries by it.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Provider } from '@strata/detect';
import { z } from 'zod';

const file = z.strictObject({ $schema: z.literal('../provider.schema.json'), providers: z.array(Provider) });
const schema = z.toJSONSchema(file, { io: 'input', reused: 'ref' });
writeFileSync(
  path.join(import.meta.dirname, '../../../../../catalog/provider.schema.json'),
  `${JSON.stringify({ title: 'Providers of the catalog', ...schema }, null, 2)}\n`,
);
