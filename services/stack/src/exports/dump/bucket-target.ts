// Dumps in a bucket with the API of S3. Objects cannot be renamed: readers use the manifest, which is written last.
import { createReadStream } from 'node:fs';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { sleep } from '../../sleep.ts';
import type { DumpTarget } from './dump-target.ts';
import type { DumpAddress } from './dump-url.ts';

/** Of one file, and the delay between them: the SDK cannot send a stream again. */
const TRIES = 3;
const RETRY_MS = 1_000;

export class BucketTarget implements DumpTarget {
  readonly #client: S3Client;
  readonly #bucket: string;
  readonly #prefix: string;
  /** Ends requests: the end of a process does not wait for a bucket. */
  readonly #ending: { readonly abortSignal: AbortSignal };

  constructor({ bucket, prefix, endpoint, region }: Extract<DumpAddress, { kind: 'bucket' }>, signal: AbortSignal) {
    this.#ending = { abortSignal: signal };
    this.#bucket = bucket;
    this.#prefix = prefix;
    this.#client = new S3Client({
      region,
      // Servers other than Amazon's have no host name for each bucket.
      ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
      // Not all servers know the checksums that the SDK adds on its own; files are sent with SHA-256.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: { connectionTimeout: 10_000, requestTimeout: 60_000 },
    });
  }

  async read(name: string): Promise<string | undefined> {
    try {
      const { Body } = await this.#client.send(new GetObjectCommand(this.#object(name)), this.#ending);
      return await Body?.transformToString();
    } catch (error) {
      if (error instanceof NoSuchKey) return undefined;
      throw error;
    }
  }

  async remove(manifest: string, folders: readonly string[]): Promise<void> {
    await this.#client.send(new DeleteObjectCommand(this.#object(manifest)), this.#ending);
    for (const folder of folders) {
      const Prefix = `${this.#prefix}${folder}/`;
      for (let isMore = true; isMore; ) {
        const list = new ListObjectsV2Command({ Bucket: this.#bucket, Prefix });
        const listed = await this.#client.send(list, this.#ending);
        for (const { Key } of listed.Contents ?? [])
          await this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key }), this.#ending);
        isMore = listed.IsTruncated === true;
      }
    }
  }

  async put(name: string, { path, sizeBytes, sha256 }: Parameters<DumpTarget['put']>[1]): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        await this.#client.send(
          new PutObjectCommand({
            ...this.#object(name),
            Body: createReadStream(path),
            ContentLength: sizeBytes,
            ChecksumSHA256: Buffer.from(sha256, 'hex').toString('base64'),
            ContentType: 'application/vnd.apache.parquet',
          }),
          this.#ending,
        );
        return;
      } catch (error) {
        const { abortSignal } = this.#ending;
        if (tries === TRIES || abortSignal.aborted) throw error;
        await sleep(RETRY_MS, abortSignal);
      }
    }
  }

  async complete(manifest: string, text: string): Promise<void> {
    const ContentType = 'application/json';
    const put = new PutObjectCommand({ ...this.#object(manifest), Body: text, ContentType });
    await this.#client.send(put, this.#ending);
  }

  [Symbol.dispose](): void {
    this.#client.destroy();
  }

  #object(name: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${name}` };
  }
}
