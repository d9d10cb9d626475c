// The file that a job of the service writes.
import { type Job, StackProblem } from '@strata/client';
import { tables } from './session.ts';

export interface JobFile {
  /** Its path at the service. */
  readonly path: string;
  readonly content: Blob;
  readonly headers: Headers;
}

/** Waits for the end of the job. Throws StackProblem if the job failed or the file cannot be read. */
export async function jobFile(job: Job, onProgress?: (job: Job) => void): Promise<JobFile> {
  const { error, file } = await tables.ended(job, onProgress && { onProgress });
  if (error || !file)
    throw new StackProblem({
      status: 400,
      code: error?.code ?? 'unavailable',
      title: 'The job failed',
      detail: error?.detail ?? '',
    });
  const { chunks, headers } = await tables.file(file);
  const parts: BlobPart[] = [];
  for await (const chunk of chunks) parts.push(chunk as BlobPart);
  return { path: file, content: new Blob(parts), headers };
}
