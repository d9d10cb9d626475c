// Links in e-mail: the owner of an address confirms it, or receives nothing more. A GET changes nothing, since programs open links.
import { route } from '@strata/http';
import { z } from 'zod';
import type { StackApp } from '../../context.ts';
import { Word } from '../parameters.ts';
import { common } from './watchlists.ts';

const contract = {
  ...common,
  access: 'open',
  path: '/email/{action}',
  params: z.object({ action: Word(['confirm', 'unsubscribe']) }),
  query: z.object({ token: z.string().regex(/^[\w-]{32}$/, 'must be the token of a message') }),
  output: { kind: 'bytes', contentType: 'text/html; charset=utf-8', description: 'A page for the owner.' },
  errors: ['not_found'],
} as const;

const NO_ADDRESS = 'No address has this token.';

export const getEmailPage = route(
  { ...contract, method: 'GET', summary: 'Ask the owner of an e-mail address', description: 'The link of a message.' },
  async ({ store }: StackApp, { action, token }, { refuse }) => {
    const address = (await store.addresses.find(token)) ?? refuse('not_found', NO_ADDRESS);
    const text = action === 'confirm' ? 'Send notifications to' : 'Send no more e-mail to';
    const form = `<form method="post"><button>${action === 'confirm' ? 'Confirm' : 'Unsubscribe'}</button></form>`;
    return { bytes: page(`${text} ${address}?`, form) };
  },
);

export const postEmail = route(
  {
    ...contract,
    method: 'POST',
    summary: 'Confirm or unsubscribe an e-mail address',
    description: 'By the page of the same address, or by the one click of RFC 8058.',
    bodies: { 'application/x-www-form-urlencoded': z.string().max(256) },
    bodyBytes: 1_024,
    errors: ['not_found', 'payload_too_large', 'unsupported_media_type'],
  },
  async ({ store }: StackApp, { action, token }, { refuse }) => {
    const address = (await store.addresses.find(token)) ?? refuse('not_found', NO_ADDRESS);
    await store.addresses.decide(token, action === 'confirm' ? 'confirmed' : 'refused');
    return { bytes: page(`${address} receives ${action === 'confirm' ? 'notifications' : 'no more e-mail'}.`) };
  },
);

function page(text: string, form = ''): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Strata</title>
<h1>Strata</h1><p>${escaped}</p>${form}</html>
`;
}
