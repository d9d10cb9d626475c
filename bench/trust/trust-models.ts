// Models for cheats: the demo's model with its weights rounded to fewer bits, as quantised files have them, and kept as F16.
import { readFile, writeFile } from 'node:fs/promises';
import { readGgufFileInfo } from 'node-llama-cpp';

const GGML_F16 = 1;
/** Weights that share a scale, as in Q4_0 to Q8_0. */
const BLOCK = 32;

/** Writes a copy whose matrices are rounded to so many bits: Q4_0's way of rounding (GGML), with any number of bits. */
export async function writeRounded(source: string, target: string, bits: number): Promise<void> {
  const bytes = await readFile(source);
  const { fullTensorInfo = [] } = await readGgufFileInfo(source, { readTensorInfo: true, logWarnings: false });
  for (const { ggmlType, dimensions, fileOffset } of fullTensorInfo) {
    if ((ggmlType as number) !== GGML_F16) continue;
    const count = dimensions.reduce<number>((product, each) => product * Number(each), 1);
    const weights = new Float16Array(bytes.buffer, bytes.byteOffset + Number(fileOffset), count);
    for (let from = 0; from < count; from += BLOCK) round(weights.subarray(from, from + BLOCK), bits);
  }
  await writeFile(target, bytes);
}

/** The value of largest magnitude becomes the lowest step, and the scale is what that makes it. */
function round(block: Float16Array, bits: number): void {
  const lowest = -(2 ** (bits - 1));
  const largest = block.reduce((max, value) => (Math.abs(value) > Math.abs(max) ? value : max), 0);
  const scale = largest / lowest;
  if (scale === 0) return;
  for (const [i, value] of block.entries())
    block[i] = Math.min(-lowest - 1, Math.max(lowest, Math.round(value / scale))) * scale;
}
