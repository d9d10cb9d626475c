// The sockets that questions to name servers leave from: drawn by chance, and new ones before anybody can rely on their ports.
import { random16 } from '../random.ts';
import type { TimerWheel } from '../timer-wheel.ts';
import { UdpChannel } from '../udp-channel.ts';

/** One is drawn for each question. */
const CHANNELS = 16;
/**
 * Whoever runs a name server that is asked sees ports; these are how many questions, and how long, one of them stays in
 * use. Opening and closing one takes about 20 µs of CPU, less than a question.
 */
const MOST_QUESTIONS = 64;
const MOST_MS = 10_000;

interface Place {
  channel: UdpChannel;
  questions: number;
  openedAt: number;
  isChanging: boolean;
}

export class ChannelPool implements AsyncDisposable {
  readonly #family: 4 | 6;
  readonly #wheel: TimerWheel;
  #places: readonly Place[] = [];
  #opening: Promise<void> | undefined;
  /** Replacements being opened, and sockets that wait for their last answers. */
  readonly #changing = new Set<Promise<void>>();
  readonly #retired = new Set<UdpChannel>();
  #isDisposed = false;

  constructor(family: 4 | 6, wheel: TimerWheel) {
    this.#family = family;
    this.#wheel = wheel;
  }

  get isOpen(): boolean {
    return this.#places.length > 0;
  }

  /** Where no sockets can be opened there are none to draw from, and the next question tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#openAll().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  /** To be asked at once: after a turn of the event loop it may be closed. Undefined where there are none. */
  draw(): UdpChannel | undefined {
    const place = this.#places[random16() % CHANNELS];
    if (place === undefined) return undefined;
    place.questions += 1;
    const isWorn = place.questions >= MOST_QUESTIONS || performance.now() - place.openedAt > MOST_MS;
    if (isWorn && !place.isChanging) this.#change(place);
    return place.channel;
  }

  async #openAll(): Promise<void> {
    const opened = await Promise.allSettled(Array.from({ length: CHANNELS }, () => this.#openOne()));
    const places = opened.flatMap((each) => (each.status === 'fulfilled' ? [placeOf(each.value)] : []));
    if (places.length === CHANNELS && !this.#isDisposed) this.#places = places;
    else await Promise.all(places.map(({ channel }) => channel[Symbol.asyncDispose]()));
  }

  #openOne(): Promise<UdpChannel> {
    return UdpChannel.openFor(this.#family, this.#wheel);
  }

  /** The old socket serves until the new one is there, and goes on serving where none can be had. */
  #change(place: Place): void {
    place.isChanging = true;
    const changing = this.#openOne()
      .then(
        async (channel) => {
          if (this.#isDisposed) return channel[Symbol.asyncDispose]();
          const worn = place.channel;
          Object.assign(place, placeOf(channel));
          this.#retired.add(worn);
          void worn.retire().then(() => this.#retired.delete(worn));
        },
        () => {
          place.isChanging = false;
        },
      )
      .finally(() => this.#changing.delete(changing));
    this.#changing.add(changing);
  }

  /** Questions in flight end as `stopped`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#opening;
    await Promise.all(this.#changing);
    const channels = [...this.#retired, ...this.#places.map(({ channel }) => channel)];
    await Promise.all(channels.map((channel) => channel[Symbol.asyncDispose]()));
  }
}

function placeOf(channel: UdpChannel): Place {
  return { channel, questions: 0, openedAt: performance.now(), isChanging: false };
}
