// `npm run engine:clickhouse`: installs ClickHouse in this process (chdb), which `npm ci` leaves out for its size. npm checks
// the digests; neither package.json nor the lockfile changes.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

/** Exact versions: of chdb, which brings ClickHouse 26.7, and of the types of errors that it shares with the client. */
const PACKAGES = ['chdb@3.4.0', '@clickhouse/client-common@1.23.0'];
const SYSTEMS = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'];
const MIB = 543;

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const modules = path.join(path.dirname(require.resolve('@clickhouse/client/package.json')), '../..');

const system = `${process.platform}-${process.arch}`;
if (!SYSTEMS.includes(system)) fail(`chdb is for ${SYSTEMS.join(', ')}, not for ${system}: nothing was installed`);
if (await isReady()) console.log(`${PACKAGES[0]} is installed already`);
else {
  console.log(`installing ${PACKAGES.join(' and ')} with ClickHouse 26.7, ${MIB} MiB in all, into ${modules}`);
  await install();
  if (!(await isReady())) fail('installed, but this machine cannot load it: it needs glibc');
  console.log('ready: set STRATA_ANALYTICS_URL=chdb:FOLDER');
  console.log('`npm ci` removes it: run this again afterwards');
}

/** Replaces the package of that name, with all it needs inside of it; a failed download leaves everything as it was. */
async function install(): Promise<void> {
  const cwd = await mkdtemp(path.join(modules, '.install-'));
  try {
    await writeFile(path.join(cwd, 'package.json'), '{ "private": true }');
    await run('npm', ['install', ...PACKAGES, '--legacy-peer-deps', '--no-audit', '--no-fund', '--prefix', cwd], {
      cwd,
    });
    const installed = path.join(cwd, 'node_modules');
    const own = path.join(installed, 'chdb');
    const names = (await readdir(installed)).filter((name) => !name.startsWith('.') && name !== 'chdb');
    await mkdir(path.join(own, 'node_modules'), { recursive: true });
    for (const name of names) await rename(path.join(installed, name), path.join(own, 'node_modules', name));
    await rm(path.join(modules, 'chdb'), { recursive: true, force: true });
    await rename(own, path.join(modules, 'chdb'));
  } catch (error) {
    fail(`chdb was not installed: ${error instanceof Error ? error.message : error}`);
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

/** Loads it in a process of its own: a library that was loaded cannot be replaced. */
async function isReady(): Promise<boolean> {
  const text = "import('chdb/connection').catch(() => process.exit(1))";
  return run(process.execPath, ['--input-type=module', '--eval', text], { cwd: path.dirname(modules) }).then(
    () => true,
    () => false,
  );
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
