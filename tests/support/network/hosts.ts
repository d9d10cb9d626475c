// Hosts of their own on this machine: network namespaces, each with a cable to this one that can be unplugged.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ip = (...words: readonly string[]) => run('ip', [...words]);

/** Why there can be no hosts here; undefined: there can. */
export async function whyNoHosts(): Promise<string | undefined> {
  const name = `strata-try-${process.pid}`;
  try {
    await ip('netns', 'add', name);
    await ip('netns', 'del', name);
    return undefined;
  } catch (error) {
    return `network namespaces cannot be made here: ${(error as Error).message.split('\n')[0]}`;
  }
}

export interface Host extends AsyncDisposable {
  readonly namespace: string;
  readonly address: string;
  /** Of this machine, as that host sees it. */
  readonly ours: string;
  /** The cable is out: nothing passes, and nobody is told. */
  unplug(): Promise<void>;
  plugIn(): Promise<void>;
}

/** `number`: 1 to 250, of this process. */
export async function addHost(number: number): Promise<Host> {
  const namespace = `strata-${process.pid}-${number}`;
  const cable = `st${process.pid % 100_000}n${number}`;
  const far = `${cable}p`;
  const network = `10.213.${number}`;
  const inside = (...words: readonly string[]) => ip('netns', 'exec', namespace, ...words);
  await ip('netns', 'add', namespace);
  await ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', far, 'netns', namespace);
  await ip('address', 'add', `${network}.1/30`, 'dev', cable);
  await ip('link', 'set', cable, 'up');
  await inside('ip', 'address', 'add', `${network}.2/30`, 'dev', far);
  await inside('ip', 'link', 'set', far, 'up');
  await inside('ip', 'link', 'set', 'lo', 'up');
  return {
    namespace,
    address: `${network}.2`,
    ours: `${network}.1`,
    unplug: async () => void (await inside('ip', 'link', 'set', far, 'down')),
    plugIn: async () => void (await inside('ip', 'link', 'set', far, 'up')),
    async [Symbol.asyncDispose]() {
      // The cable goes with the namespace that one of its ends is in.
      await ip('netns', 'del', namespace);
    },
  };
}
