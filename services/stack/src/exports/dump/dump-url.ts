// The folder or bucket of dumps, from the setting: `file:///var/dumps`, `s3://bucket/prefix?endpoint=https://…&region=…`.
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

export type DumpAddress =
  | { readonly kind: 'folder'; readonly folder: string }
  | {
      readonly kind: 'bucket';
      readonly bucket: string;
      /** Empty, or ends with `/`. */
      readonly prefix: string;
      /** By default Amazon's. */
      readonly endpoint: string | undefined;
      readonly region: string;
    };

const BucketOptions = z.strictObject({
  endpoint: z
    .url({ protocol: /^https?$/ })
    .refine(hasNoCredentials, 'must not have credentials')
    .optional(),
  region: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/)
    .default(() => process.env.AWS_REGION ?? 'us-east-1'),
});

const FORMS = 'must be file:///folder or s3://bucket/prefix?endpoint=https://…&region=…';

export const DumpUrl = z.string().transform((text, context): DumpAddress => {
  const url = URL.parse(text);
  const refuse = (message: string) => {
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  };
  if (url?.username || url?.password)
    return refuse('must not have credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
  const path = url && decodedPath(url);
  if (url && path === undefined) return refuse(`${FORMS}; its path must have valid percent-encoding`);
  if (url?.protocol === 'file:' && url.host === '' && url.search === '' && url.pathname.length > 1)
    return { kind: 'folder', folder: fileURLToPath(url) };
  if (url?.protocol !== 's3:' || !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(url.hostname) || url.port)
    return refuse(FORMS);
  const options = BucketOptions.safeParse(Object.fromEntries(url.searchParams));
  if (!options.success) return refuse(`${FORMS}: ${options.error.issues.map(({ message }) => message).join(', ')}`);
  const { endpoint, region } = options.data;
  const prefix = (path ?? '').split('/').filter(Boolean).join('/');
  return { kind: 'bucket', bucket: url.hostname, prefix: prefix && `${prefix}/`, endpoint, region };
});

/** Undefined for malformed escapes, and for those that would change the segments of a path: `%2F`, `%00`. */
function decodedPath({ pathname }: URL): string | undefined {
  if (/%(?:2f|00)/i.test(pathname)) return undefined;
  try {
    return decodeURIComponent(pathname);
  } catch {
    return undefined;
  }
}

function hasNoCredentials(text: string): boolean {
  const url = URL.parse(text);
  return url?.username === '' && url.password === '';
}
