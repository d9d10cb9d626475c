// The checker of the survival tests: reads store and ledger by itself, and shares no code with the service.
import { setTimeout as delay } from 'node:timers/promises';
import { withDatabase } from './database.ts';
import { type Ledger, ledgerInTables, ledgerServed } from './ledger-sources.ts';
import { leafHash, rootOfProof, Tree } from './merkle.ts';
import { type KeySet, leafOfAnswer, openCheckpoint } from './signatures.ts';
import { type Acknowledged, checkEvents, checkState, checkUsage, type Finding } from './store-checks.ts';

/** All that clients got of one service since the last check. */
export interface Answered {
  /** Signed bodies by the id of their receipt in the ledger. */
  readonly answers: ReadonlyMap<string, string>;
  readonly checkpoints: ReadonlySet<string>;
  readonly keySets: ReadonlySet<string>;
  /** Undefined for the inference service. */
  readonly acknowledged?: Acknowledged;
  /** Ids of receipts of completions. */
  readonly receiptIds?: ReadonlySet<string>;
}
export interface Service {
  readonly databaseUrl: string;
  /** The database of the ledger; undefined where it is that of the service. */
  readonly ledgerUrl?: string | undefined;
  /** Address of the service, and the path of its key set. */
  readonly base: string;
  readonly keySetPath: string;
}

interface ServedProof {
  readonly index: number;
  readonly tree_size: number;
  /** Base64. */
  readonly proof: readonly string[];
  readonly checkpoint: string;
}

/** What every node serves within a second, on a busy machine. */
const LAG_MS = 30_000;
/** Proofs that are asked for in each check. */
const PROOFS = 50;

/** Keeps what was answered: every answer and every checkpoint must hold in each later check too. */
export class Checker {
  readonly #leaves = new Map<string, string>();
  readonly #checkpoints = new Set<string>();
  readonly #keySets = new Set<string>();

  /** Receipts that were checked so far. */
  get receipts(): number {
    return this.#leaves.size;
  }

  /** Everything that is wrong; nothing when all that clients got still holds. */
  async check(answered: Answered, { databaseUrl, ledgerUrl, base, keySetPath }: Service): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    await withDatabase(databaseUrl, async (sql) => {
      if (answered.acknowledged) {
        for await (const finding of checkState(sql, answered.acknowledged)) findings.push(finding);
        for await (const finding of checkEvents(sql, answered.acknowledged)) findings.push(finding);
      }
      if (answered.receiptIds) for await (const finding of checkUsage(sql, answered.receiptIds)) findings.push(finding);
    });
    const stored = await withDatabase(ledgerUrl ?? databaseUrl, ledgerInTables);
    // A node may be behind the one that gave the last answer.
    let served = await ledgerServed(base);
    for (const start = Date.now(); served.leaves.length < stored.leaves.length && Date.now() - start < LAG_MS; ) {
      await delay(100);
      served = await ledgerServed(base);
    }
    const every = Math.max(1, Math.floor(answered.answers.size / PROOFS));
    const ids = [...answered.answers.keys()].filter((_, i) => i % every === 0);
    const proofs = await Promise.all(ids.map(async (id) => [id, await proofOf(base, id)] as const));
    for (const each of answered.checkpoints) this.#checkpoints.add(each);
    for (const each of answered.keySets) this.#keySets.add(each);
    // After all that may be signed with a new key.
    const newest = await (await fetch(base + keySetPath)).text();
    this.#keySets.add(newest);
    const keySets = [...this.#keySets].map((text) => JSON.parse(text) as KeySet);
    const kept = namesOfKeys(JSON.parse(newest));
    for (const key of new Set(keySets.flatMap(namesOfKeys)))
      if (!kept.includes(key)) findings.push({ kind: 'lost', what: `the key ${key} is not in the newest key set` });
    for (const [id, text] of answered.answers) {
      const leaf = leafOfAnswer(text, keySets);
      if (typeof leaf === 'string') findings.push({ kind: 'wrong', what: leaf });
      else this.#leaves.set(id, leafHash(leaf).toString('hex'));
    }
    for (const ledger of [stored, served]) findings.push(...this.#checkLedger(ledger, keySets));
    for (const [id, proof] of proofs) findings.push(...this.#checkProof(id, proof, keySets));
    return findings;
  }

  /** One signed tree has the leaf of every answer, and every checkpoint that a client saw is of a beginning of it. */
  *#checkLedger({ leaves, checkpoint }: Ledger, keySets: readonly KeySet[]): Generator<Finding> {
    const tree = new Tree(leaves);
    for (const note of [checkpoint, ...this.#checkpoints]) {
      const opened = openCheckpoint(note, keySets);
      if (typeof opened === 'string') yield { kind: 'wrong', what: opened };
      else if (opened.size > tree.size) yield { kind: 'lost', what: `leaves ${tree.size} to ${opened.size}` };
      else if (!tree.root(opened.size).equals(opened.root))
        yield { kind: 'wrong', what: `another tree than the checkpoint of size ${opened.size} says` };
    }
    for (const [id, leaf] of this.#leaves)
      if (!tree.indexes.has(leaf)) yield { kind: 'lost', what: `the receipt ${id} is not in the ledger` };
    const receipts = leaves.map((leaf) => JSON.parse(leaf.toString()).receipt_id);
    const doubled = receipts.length - new Set(receipts).size;
    if (doubled > 0) yield { kind: 'doubled', what: `${doubled} receipts in the ledger` };
  }

  *#checkProof(id: string, served: ServedProof | undefined, keySets: readonly KeySet[]): Generator<Finding> {
    if (!served) return yield { kind: 'lost', what: `the proof of ${id}` };
    const { index, tree_size, checkpoint } = served;
    const opened = openCheckpoint(checkpoint, keySets);
    const proof = served.proof.map((each) => Buffer.from(each, 'base64'));
    const root = rootOfProof(Buffer.from(this.#leaves.get(id) ?? '', 'hex'), index, tree_size, proof);
    if (typeof opened === 'string' || opened.size !== tree_size || !root?.equals(opened.root))
      yield { kind: 'wrong', what: `the proof of ${id} does not lead to a signed root` };
  }
}

/** Of all keys that were ever served, retired ones too. */
const namesOfKeys = ({ keys, ledger }: KeySet): string[] => [...keys.map(({ kid }) => kid), ...ledger.verifier_keys];

async function proofOf(base: string, id: string): Promise<ServedProof | undefined> {
  const response = await fetch(`${base}/ledger/receipts/${id}`);
  return response.status === 200 ? ((await response.json()) as ServedProof) : undefined;
}
