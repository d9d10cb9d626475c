// The setting of the mail server.
import { WebAddress } from '@strata/http';
import { z } from 'zod';

export interface Smtp {
  readonly host: string;
  readonly port: number;
  /** TLS from the beginning; otherwise STARTTLS. */
  readonly secure: boolean;
  readonly auth?: { readonly user: string; readonly pass: string };
  readonly from: string;
  /** Address of this service, for links in messages. */
  readonly base: string;
}

/** ASCII without quotes or comments, in lower case: such a text cannot contain a second address or a header. */
export const EmailAddress = z
  .email({
    pattern: /^[A-Za-z0-9!#$%&'*/=?^_`{|}~+-]+(?:\.[A-Za-z0-9!#$%&'*/=?^_`{|}~+-]+)*@[A-Za-z0-9.-]+\.[A-Za-z]+$/,
  })
  .max(254)
  .toLowerCase();

const FORM = 'smtp://user:password@host:587?from=strata@example.com&base=https://strata.example.com';

/** `smtps:` has TLS from the beginning. An invalid value may contain a password: it is not repeated in the message. */
export const SmtpUrl = z.string().transform((value, context): Smtp => {
  const url = URL.parse(value);
  const parameters = [...(url?.searchParams.keys() ?? [])].sort();
  const from = EmailAddress.safeParse(url?.searchParams.get('from'));
  const base = WebAddress.safeParse(url?.searchParams.get('base'));
  const [user, pass] = [decoded(url?.username), decoded(url?.password)];
  const isForm = url && /^smtps?:$/.test(url.protocol) && url.hostname !== '' && parameters.join() === 'base,from';
  if (!isForm || !from.success || !base.success || user === undefined || pass === undefined) {
    const message = `must have the form ${FORM}, with special characters percent-encoded`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  }
  const secure = url.protocol === 'smtps:';
  return {
    ...{ host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port) || (secure ? 465 : 587), secure },
    ...(user !== '' && { auth: { user, pass } }),
    ...{ from: from.data, base: base.data },
  };
});

/** Undefined for a malformed `%`. */
function decoded(text = ''): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
