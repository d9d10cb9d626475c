import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** What V8 writes: https://nodejs.org/api/cli.html#node_v8_coveragedir */
interface ScriptCoverage {
  readonly url: string;
  readonly functions: readonly {
    readonly isBlockCoverage: boolean;
    readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
  }[];
}

/** Of one source file. */
export interface FileCoverage {
  /** For each UTF-16 code unit 1 if a process executed it. */
  readonly isCovered: Uint8Array;
  /** Start offsets of blocks that V8 counts. */
  readonly branches: Set<number>;
}

function addScript({ functions }: ScriptCoverage, { isCovered, branches }: FileCoverage): void {
  // Ranges nest, and the inner one holds: written from the outermost to the innermost.
  const inProcess = new Uint8Array(isCovered.length);
  for (const { ranges, isBlockCoverage } of functions) {
    for (const [index, { startOffset, endOffset, count }] of ranges.entries()) {
      inProcess.fill(count > 0 ? 1 : 0, startOffset, endOffset);
      if (isBlockCoverage && (index > 0 || startOffset > 0)) branches.add(startOffset);
    }
  }
  for (const [offset, value] of inProcess.entries()) if (value === 1) isCovered[offset] = 1;
}

/** Coverage of `sources` (absolute paths) by the processes that ran with NODE_V8_COVERAGE=`directory`. */
export function readCoverage(directory: string, sources: ReadonlySet<string>): Map<string, FileCoverage> {
  const files = new Map<string, FileCoverage>();
  for (const name of readdirSync(directory).filter((name) => name.endsWith('.json'))) {
    try {
      const { result } = JSON.parse(readFileSync(path.join(directory, name), 'utf8')) as { result: ScriptCoverage[] };
      for (const script of result) {
        const file = script.url.startsWith('file:') ? fileURLToPath(script.url) : '';
        if (!sources.has(file)) continue;
        const length = script.functions[0]?.ranges[0]?.endOffset ?? 0;
        const known = files.get(file) ?? { isCovered: new Uint8Array(length), branches: new Set<number>() };
        files.set(file, known);
        addScript(script, known);
      }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      console.error(`${name}: cut short, its process was killed; not counted`);
    }
  }
  return files;
}
