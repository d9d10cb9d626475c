// Portkey's gateway, a peer of ours: installed from the registry for one run.
import { execFile, spawn } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../tests/support/free-port.ts';
import { temporaryDirectory } from '../../tests/support/temporary-directory.ts';
import { until } from '../../tests/support/until.ts';

const VERSION = '1.15.2';
const START_MS = 20_000;

interface Portkey extends AsyncDisposable {
  readonly base: string;
  /** Sent with each request: where it goes on to. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Undefined where the registry cannot be reached. */
export async function startPortkey(upstream: string): Promise<Portkey | undefined> {
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await temporaryDirectory());
  const install = ['install', '--prefix', directory, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  const isInstalled = await promisify(execFile)('npm', [...install, `@portkey-ai/gateway@${VERSION}`]).then(
    () => true,
    () => false,
  );
  if (!isInstalled) return undefined;
  const port = await freePort();
  const server = path.join(directory, 'node_modules/@portkey-ai/gateway/build/start-server.js');
  const child = spawn(process.execPath, [server, `--port=${port}`, '--headless'], { stdio: 'ignore' });
  stack.defer(() => void child.kill());
  const base = `http://127.0.0.1:${port}`;
  const answers = async () => (await fetch(base).catch(() => undefined)) !== undefined;
  await until(answers, { limitMs: START_MS, intervalMs: 100, what: 'Portkey answers' });
  const owned = stack.move();
  const headers = { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${upstream}/v1` };
  return { base, headers, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
