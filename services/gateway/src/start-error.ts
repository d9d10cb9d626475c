// Errors that prevent the gateway from joining its network, for the operator.
import { StartError } from '@strata/http';

/** Errors of the network node whose message says what to change. */
const HOST_ERRORS: ReadonlySet<string> = new Set([
  'JoinError',
  'JoinTokenError',
  'KeyFileError',
  'ListenError',
  'NetworkKeyError',
]);

/** A one-line message that says what the operator must change so that the gateway can join the network. */
export function networkStartError(cause: Error, listen: readonly string[]): StartError {
  const [why = ''] = cause.message.split('\n');
  // A gateway that already runs on this machine is the most frequent reason.
  const second = cause.name === 'ListenError' && why.includes('in use');
  const more = second ? ' (a second gateway of this machine also needs STRATA_INFERENCE_PORT and STRATA_DATA)' : '';
  const where = HOST_ERRORS.has(cause.name) ? '' : ` at ${listen.join(' ')} (listen=… of STRATA_P2P)`;
  return new StartError(`the network cannot be joined${where}: ${why}${more}`, { cause });
}
