// Selects the files of one model, single or split, from a repository's listing.
import { ModelStoreError } from './error.ts';
import { formatReference, type Repository, type Wanted } from './reference.ts';

export interface HubFile {
  /** Inside the repository. */
  readonly path: string;
  readonly sizeBytes?: number | undefined;
  /** Hex, where the repository publishes it. */
  readonly sha256?: string | undefined;
}

interface Model {
  /** Its path; the first part's path of a split model. */
  readonly name: string;
  readonly files: readonly HubFile[];
  readonly isComplete: boolean;
}

/** The common default: half a percent worse than the original at a third of its size. */
const DEFAULT_QUANT = 'Q4_K_M';
const MAX_LISTED = 20;
/** Part numbers as written by llama.cpp's gguf-split. */
const partPattern = /^(?<stem>.*)-(?<index>\d{5})-of-(?<count>\d{5})\.gguf$/i;
const MAX_PARTS = 1_000;

/** All parts of the model that a file belongs to, in order; an unsplit file is its own only part. */
export function partsOf(path: string): readonly string[] {
  const { nameOf, count } = splitOf(path);
  return Array.from({ length: count }, (_, at) => nameOf(at + 1));
}

function splitOf(path: string): { readonly nameOf: (index: number) => string; readonly count: number } {
  const { stem, index = '', count = '' } = partPattern.exec(path)?.groups ?? {};
  const isPart = Number(index) >= 1 && Number(index) <= Number(count) && Number(count) <= MAX_PARTS;
  if (stem === undefined || !isPart) return { nameOf: () => path, count: 1 };
  const extension = path.slice(-'.gguf'.length);
  return { nameOf: (at) => `${stem}-${String(at).padStart(5, '0')}-of-${count}${extension}`, count: Number(count) };
}

/** The files of the one matching model. Throws `not-found` or `ambiguous` with a list of the models. */
export function chooseModel(files: readonly HubFile[], wanted: Wanted, repository: Repository): readonly HubFile[] {
  const models = modelsOf(files);
  const fitting = fittingModels(models, wanted);
  const [model] = fitting;
  const where = formatReference(repository);
  if (!model) {
    const what = wanted.kind === 'quant' ? `no GGUF file with ${wanted.quant} in its name` : 'no such GGUF file';
    throw new ModelStoreError(
      'not-found',
      models.length === 0 ? `${where} has no GGUF files` : `${where} has ${what}; ${listed(models)}`,
    );
  }
  if (fitting.length > 1) throw new ModelStoreError('ambiguous', `several files of ${where} match; ${listed(fitting)}`);
  if (!model.isComplete) throw new ModelStoreError('not-found', `parts of ${model.name} are missing in ${where}`);
  return model.files;
}

function fittingModels(models: readonly Model[], wanted: Wanted): readonly Model[] {
  if (wanted.kind === 'file') return models.filter((model) => model.files.some((file) => file.path === wanted.path));
  // Image projectors accompany a model; they are not language models.
  const languageModels = models.filter((model) => !/(^|\/)mmproj/i.test(model.name));
  if (wanted.kind === 'quant') return withQuant(languageModels, wanted.quant);
  if (languageModels.length <= 1) return languageModels;
  const usual = withQuant(languageModels, DEFAULT_QUANT);
  return usual.length === 1 ? usual : languageModels;
}

/** Exact tokens take precedence: `F16` is a substring of `BF16`, and `Q2_K` of `Q2_K_L`. */
function withQuant(models: readonly Model[], quant: string): readonly Model[] {
  const named = models.filter((model) => model.name.toLowerCase().includes(quant.toLowerCase()));
  const word = new RegExp(`(?<![^-./])${RegExp.escape(quant)}(?![^-./])`, 'i');
  const exact = named.filter((model) => word.test(model.name));
  return exact.length > 0 ? exact : named;
}

function modelsOf(files: readonly HubFile[]): readonly Model[] {
  const byName = Map.groupBy(new Map(files.map((file) => [file.path, file])).values(), ({ path }) =>
    splitOf(path).nameOf(1),
  );
  const models = [...byName].map(([name, parts]) => ({
    name,
    files: parts.sort(byText(({ path }) => path)),
    isComplete: parts.length === splitOf(name).count,
  }));
  return models.sort(byText(({ name }) => name));
}

/** By code units, independent of the locale. */
function byText<T>(textOf: (item: T) => string): (one: T, other: T) => number {
  return (one, other) => (textOf(one) < textOf(other) ? -1 : 1);
}

function listed(models: readonly Model[]): string {
  const names = models.slice(0, MAX_LISTED).map((model) => model.name);
  const more = models.length - names.length;
  return `available: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
