// `npm run engine:cuda`, `engine:vulkan` and `engine:arm`: installs a build of llama.cpp that `npm ci` leaves out for its
// size. Takes the version that node-llama-cpp asks for; npm checks the digest.
import { execFile } from 'node:child_process';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

const X64 = ['linux-x64', 'win32-x64'];
const BUILDS = {
  // The second package is built for CUDA 12, the first for CUDA 13.
  cuda: {
    systems: X64,
    packages: ['-cuda', '-cuda-ext'],
    mib: 304,
    gpu: 'cuda',
    needs: 'the NVIDIA driver, and libcudart and libcublas of CUDA 13 or 12',
  },
  vulkan: {
    systems: X64,
    packages: ['-vulkan'],
    mib: 23,
    gpu: 'vulkan',
    needs: 'a Vulkan driver and its loader (Debian: libvulkan1)',
  },
  arm: { systems: ['linux-arm64', 'linux-arm'], packages: [''], mib: 7, gpu: false, needs: 'glibc' },
} as const;

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const library = path.join(path.dirname(require.resolve('node-llama-cpp')), '..');
const modules = path.join(library, '../@node-llama-cpp');

const [kind = '', ...more] = process.argv.slice(2);
const build = Object.entries(BUILDS).find(([name]) => name === kind)?.[1];
if (build === undefined || more.length > 0)
  fail(
    `usage: npm run ${Object.keys(BUILDS)
      .map((name) => `engine:${name}`)
      .join(' | ')}`,
  );
const system = `${process.platform}-${process.arch}`;
if (!(build.systems as readonly string[]).includes(system))
  fail(`${kind} is for ${build.systems.join(' and ')}, not for ${system}: nothing was installed`);

const { version }: { version: string } = require(path.join(library, 'package.json'));
const prefix = { 'win32-x64': 'win-x64', 'linux-arm': 'linux-armv7l' }[system] ?? system;
const names = build.packages.map((suffix) => `@node-llama-cpp/${prefix}${suffix}`);
console.log(`installing ${names.join(' and ')} ${version}, ${build.mib} MiB in all, into ${modules}`);
for (const name of names) await install(name);
await report(build);

/** Replaces the empty package of that name; a failed download leaves it as it was. */
async function install(name: string): Promise<void> {
  const target = path.join(modules, path.basename(name));
  const cwd = await mkdtemp(path.join(modules, '.install-'));
  try {
    const { stdout } = await run('npm', ['pack', `${name}@${version}`, '--json'], {
      cwd,
      shell: process.platform === 'win32',
    });
    const [{ filename }]: [{ filename: string }] = JSON.parse(stdout);
    await run('tar', ['-xzf', filename], { cwd });
    await rm(target, { recursive: true, force: true });
    await rename(path.join(cwd, 'package'), target);
  } catch (error) {
    process.exitCode = 1;
    console.error(`${name} was not installed: ${error instanceof Error ? error.message : error}`);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** Tries the engine. Not usable is no failure: the machine that builds an image has no GPU. */
async function report({ gpu, needs }: (typeof BUILDS)[keyof typeof BUILDS]): Promise<void> {
  if (process.exitCode !== undefined) return;
  const { getLlama } = await import('node-llama-cpp');
  const llama = await getLlama({ gpu, build: 'never', skipDownload: true }).catch(() => undefined);
  if (llama === undefined) console.log(`installed, but this machine cannot use it: it needs ${needs}`);
  else {
    const devices = await llama.getGpuDeviceNames();
    console.log(gpu === false ? 'ready' : `ready on ${devices.join(', ')}: set STRATA_MODEL_OPTIONS=gpu=auto`);
    await llama.dispose();
  }
  console.log('`npm ci` removes it: run this again afterwards');
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
