// Runs after `npm ci`, and when an image is built: deletes what no part of the project reads, 235 of 905 MiB. These are
// source maps, the C headers of Node, and modules of libraries for bundlers, browsers, other encodings and old versions of
// TypeScript.
import { globSync, rmSync } from 'node:fs';
import path from 'node:path';

const cwd = path.join(import.meta.dirname, '../../node_modules');
const UNUSED = [
  '**/*.map',
  'node/node_modules/*/include',
  '{@aws-sdk,@smithy}/*/dist-es',
  '{@aws-sdk,@smithy}/**/ts3.4',
  '@openai/agents-realtime/dist/bundle',
  'js-tiktoken/dist/{ranks,index.*}',
  'openai/src',
];
for (const unused of globSync(UNUSED, { cwd })) rmSync(path.join(cwd, unused), { recursive: true, force: true });
