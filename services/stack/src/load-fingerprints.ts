// Community sets from files and folders, or a sentence that says why they cannot be used.
import { type FingerprintSet, readFingerprints } from '@strata/detect';
import { readFingerprintFiles } from './fingerprint-files.ts';
import { StartError } from './start-error.ts';

/** Throws StartError where a path is wrong or nothing in it can be used. */
export async function loadFingerprints(
  paths: readonly string[],
): Promise<{ readonly set: FingerprintSet; readonly sizeBytes: number }> {
  const { files, sizeBytes } = await readFingerprintFiles(paths);
  const set = readFingerprints(files);
  if (set.report.usable > 0) return { set, sizeBytes };
  const [first] = set.report.problems;
  const why = first
    ? `: ${first.file}: ${withoutControls([first.technology, first.field, first.problem].filter(Boolean).join(' '))}`
    : '';
  throw new StartError(`no technology of the fingerprints ${paths.join(', ')} can be used${why}`);
}

/** Names are a stranger's, and the message goes to a terminal. */
function withoutControls(text: string): string {
  return text.replaceAll(/\p{C}/gu, '\ufffd');
}
