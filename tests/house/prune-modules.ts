// Runs after `npm ci`, and when an image is built: deletes what no part of the project reads, about a third. These are
// source maps, the C headers of Node, the source of llama.cpp (every engine is a built one), TypeScript and tests of
// libraries, and their modules for bundlers, browsers, other encodings and old versions of TypeScript.
import { globSync, rmSync } from 'node:fs';
import path from 'node:path';

const cwd = path.join(import.meta.dirname, '../../node_modules');
const UNUSED = [
  '**/*.map',
  'node/node_modules/*/include',
  'node-llama-cpp/llama/gitRelease.bundle',
  '{@aws-sdk,@smithy}/*/dist-es',
  '{@aws-sdk,@smithy}/**/ts3.4',
  '@openai/agents-realtime/dist/bundle',
  'js-tiktoken/dist/{ranks,index.*}',
  '{echarts,zrender}/dist',
  '{ai,@ai-sdk/*,openai,zod,zrender}/src',
  '{ai,fastify}/docs',
  '{bintrees,fastify,pino}/test',
  'highlight.js/{scss,styles}',
];
for (const unused of globSync(UNUSED, { cwd })) rmSync(path.join(cwd, unused), { recursive: true, force: true });
