// A ClickHouse server in a process of its own, which can be killed and started again with its tables.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { temporaryDirectory } from '../temporary-directory.ts';

const PROGRAM = path.join(import.meta.dirname, 'serve.ts');

export type ClickHouseServer = Awaited<ReturnType<typeof startClickHouseServer>>;

export async function startClickHouseServer() {
  const folder = await temporaryDirectory();
  const launch = async (at: string) => {
    const child = spawn(process.execPath, [PROGRAM, folder.path, at], { stdio: ['pipe', 'pipe', 'inherit'] });
    const ended = once(child, 'exit');
    const [port] = (await Promise.race([once(createInterface(child.stdout), 'line'), ended])) as unknown[];
    if (typeof port !== 'string') throw new Error('ClickHouse did not start');
    return { child, ended, port };
  };
  let running = await launch('0');
  const kill = async () => {
    running.child.kill('SIGKILL');
    await running.ended;
  };
  return {
    url: `http://strata:pass%20word@127.0.0.1:${running.port}/strata`,
    kill,
    /** After a kill, at the same address; nothing if it runs. */
    async start() {
      if (running.child.signalCode !== null) running = await launch(running.port);
    },
    async [Symbol.asyncDispose]() {
      await kill();
      await folder[Symbol.asyncDispose]();
    },
  };
}
