// Runs after `npm ci`, and when an image is built: deletes what no part of the project reads, 180 of 820 MiB. These are
// source maps, and the C headers of Node.
import { globSync, rmSync } from 'node:fs';
import path from 'node:path';

const cwd = path.join(import.meta.dirname, '../../node_modules');
for (const unused of globSync(['**/*.map', 'node/node_modules/*/include'], { cwd }))
  rmSync(path.join(cwd, unused), { recursive: true, force: true });
