// Messages of watchlists as e-mail.
import { FailureLog } from '@strata/http';
import nodemailer from 'nodemailer';
import type { Logger } from 'pino';
import { linesOf, type Message, pageOf, titleOf } from './message.ts';
import type { Smtp } from './smtp.ts';
import { MAX_PER_MESSAGE } from './watchlist.ts';

export interface Mail {
  readonly to: string;
  /** Of the address: for its links. */
  readonly token: string;
  readonly message: Message;
  /** Asks the owner of the address; contains nothing that a client wrote. */
  readonly isConfirmation: boolean;
}

/** The result of one attempt. `isFinal`: the receiver wants no more of them. */
export interface MailOutcome {
  readonly isDelivered: boolean;
  readonly status: number | null;
  readonly error: string | null;
  readonly isFinal?: boolean;
}

export interface Mailer {
  /** Does not reject. A message has the same Message-ID in every attempt. */
  send(mail: Mail): Promise<MailOutcome>;
}

const TIMEOUT_MS = 10_000;

export function openMailer({ base, from, ...server }: Smtp, logger: Logger): Mailer {
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  const isLocal = /^(?:localhost|127\.[\d.]+|::1)$/.test(server.host);
  // A password is sent without TLS within this machine only.
  const requireTLS = server.auth !== undefined && !isLocal;
  // The certificate of a mail server on this machine is often its own.
  const tls = { rejectUnauthorized: !isLocal };
  const access = { disableFileAccess: true, disableUrlAccess: true };
  const transport = nodemailer.createTransport({ ...server, ...timeouts, ...access, requireTLS, tls });
  const failures = new FailureLog(logger, { what: 'sending e-mail' });
  return {
    async send(mail) {
      try {
        const { response } = await transport.sendMail(contentOf(mail, { base, from }));
        failures.recovered();
        return { isDelivered: true, status: Number.parseInt(response, 10) || null, error: null };
      } catch (error) {
        const { responseCode: status = null, command, code } = error as Failure;
        // The text of the server could repeat what it was sent.
        const message = status === null ? `no connection to the mail server (${code})` : `answered ${status}`;
        const isFinal = status !== null && status >= 500 && (command === 'RCPT TO' || command === 'DATA');
        // The operator needs the cause, which may name the mail server.
        if (!isFinal) failures.failed(new Error(message, status === null ? { cause: error } : {}));
        return { isDelivered: false, status, error: message, isFinal };
      }
    },
  };
}

interface Failure {
  readonly responseCode?: number;
  readonly command?: string;
  readonly code?: string;
}

function contentOf({ to, token, message, isConfirmation }: Mail, { base, from }: Pick<Smtp, 'base' | 'from'>) {
  const link = (action: string) => `${base}/email/${action}?token=${token}`;
  const lines = linesOf(message, MAX_PER_MESSAGE).map(
    (line) => `${oneLine(line.text)}\n${line.domain ? `${pageOf(line.domain, base)}\n` : ''}`,
  );
  const [subject, text] = isConfirmation
    ? [
        'Confirm that Strata may send you notifications',
        `This address was entered to receive notifications of Strata about domains. To agree, open\n\n${link('confirm')}\n\nWithout your confirmation no notification is sent. To receive no more such questions, open`,
      ]
    : [oneLine(titleOf(message)), `${lines.join('\n')}\nTo receive no more e-mail, open`];
  return {
    ...{ from: { name: 'Strata', address: from }, to: { name: '', address: to }, subject },
    text: `${text}\n\n${link('unsubscribe')}\n`,
    messageId: `<${message.id}@${from.slice(from.indexOf('@') + 1)}>`,
    headers: {
      'List-Unsubscribe': `<${link('unsubscribe')}>`,
      // RFC 8058
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'Auto-Submitted': 'auto-generated',
    },
  };
}

/** Names of lists and titles of feeds are text of other people. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are replaced
const oneLine = (text: string) => text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
