// `strata catalog release` and `update`: signed files of the catalog.
import { entries, rangeMeanings } from '@strata/catalog';
import { replaceFile } from '@strata/files';
import { openKeyring } from '@strata/log';
import { formatVerifierKey, isKeyName, type NoteSigner, noteVerifier } from '@strata/receipts';
import {
  type CatalogUpdate,
  type Config,
  fetchRelease,
  formatRelease,
  MAX_RELEASE_BYTES,
  openConfiguredStore,
  openReleaseFetcher,
  removeRelease,
  updateCatalog,
} from '@strata/stack';
import { readSmallFile } from '../../bounded-input.ts';
import type { CommandContext } from '../../context.ts';
import { CommandError, fileError, usageError } from '../../errors.ts';
import { verifierKey } from '../../option-parsers.ts';
import { counted } from '../../output.ts';
import { lint, test } from './catalog.ts';

export interface ReleaseOptions {
  readonly name: string;
  readonly keys: readonly [string, ...string[]];
}

export interface UpdateOptions {
  readonly key?: readonly string[];
  readonly check?: boolean;
  readonly bundled?: boolean;
}

/** Nothing is written of a catalog that does not pass `lint` and `test`. */
export async function releaseCommand(context: CommandContext, file: string, { name, keys }: ReleaseOptions) {
  const { stdout } = context;
  if (!isKeyName(name)) throw usageError('--name has no spaces and no plus sign');
  lint(context, []);
  test(context, []);
  const signers: NoteSigner[] = [];
  for (const directory of keys) {
    const { signer } = await openKeyring({ directory, now: () => new Date() });
    signers.push({ name, publicKey: signer.publicKey, sign: (bytes) => signer.sign(bytes) });
  }
  const content = { providers: [...entries], address_ranges: [...rangeMeanings] };
  // `keys` is not empty.
  const text = formatRelease(content, new Date(), signers as [NoteSigner, ...NoteSigner[]]);
  await replaceFile(file, text, { sync: 'all' });
  stdout.write(`wrote ${file}; verifier keys:\n`);
  for (const { publicKey } of signers) stdout.write(`${formatVerifierKey(noteVerifier(name, publicKey))}\n`);
}

const REMOVED = `the release is removed, and only a newer one is accepted
a running service starts again with the catalog of the program within 90 seconds
`;

/** Throws CommandError for a release that is refused. With `check` the store is not opened. */
export async function updateCommand(
  { stdout }: CommandContext,
  source: string | undefined,
  { key, check = false, bundled = false }: UpdateOptions,
  config: Config,
): Promise<void> {
  if (bundled) {
    if (source !== undefined || key || check) throw usageError('--bundled takes no source, --key or --check');
    await using store = await openConfiguredStore(config);
    stdout.write((await removeRelease(store)) ? REMOVED : 'the store has no release\n');
    return;
  }
  const from = source ?? config.release?.url;
  if (from === undefined) throw usageError('give a URL or a file, or set url=… of STRATA_CATALOG');
  const verifiers = key?.map(verifierKey) ?? config.release?.verifiers;
  if (!verifiers) throw usageError('give the key that signs releases by --key, or set signers=… of STRATA_CATALOG');
  const bytes = await (/^https?:/.test(from) ? fetched(from, config) : readFile(from));
  await using store = check ? undefined : await openConfiguredStore(config);
  const update = await updateCatalog(bytes, { store, verifiers, now: store?.clock ?? (() => new Date()) });
  stdout.write(`${outcomeText(update)}\n`);
}

function outcomeText(update: CatalogUpdate): string {
  if ('problem' in update) throw new CommandError(`the release is refused: ${update.problem}`);
  if (update.kind === 'current') return `the release of ${update.date} is stored already`;
  const state = update.isStored ? 'stored' : 'valid';
  return `the release of ${update.date} is ${state}: ${counted(update.providers, 'provider')}`;
}

async function fetched(url: string, config: Config): Promise<Uint8Array> {
  await using fetcher = openReleaseFetcher(url, config);
  const bytes = await fetchRelease(fetcher, url);
  if (typeof bytes === 'string') throw new CommandError(`the release is refused: ${bytes}`);
  return bytes;
}

async function readFile(file: string): Promise<Uint8Array> {
  const text = await readSmallFile(file, MAX_RELEASE_BYTES).catch((cause: unknown) => {
    throw fileError(file, cause);
  });
  return new TextEncoder().encode(text);
}
