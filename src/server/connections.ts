import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { callerAddress } from "./access/caller-address.ts";

export interface ConnectionLimits {
  /** Limit for all callers together. */
  readonly total: number;
  /**
   * Limit for connections without an accepted token. Larger than the accept backlog of 511, so that one burst drops
   * no request before it is read.
   */
  readonly strangers: number;
  readonly strangersPerAddress: number;
  /** Limits handshake, headers, body and answer together, regardless of the stranger's behavior. */
  readonly strangerLifeMs: number;
  /** Pipelined requests of a stranger: each costs the stranger one line and the server an answer. */
  readonly strangerRequests: number;
}

export const connectionLimits: ConnectionLimits = {
  total: 2_000,
  strangers: 1_000,
  strangersPerAddress: 600,
  strangerLifeMs: 10_000,
  strangerRequests: 10,
};

/** The connection of a request. */
export interface Caller {
  readonly address: string;
  /** Marks the connection as having an accepted token: strangers can no longer displace it. */
  trust(): void;
}

interface Stranger {
  readonly socket: Socket;
  readonly address: string;
  readonly deadline: NodeJS.Timeout;
  unanswered: number;
}

/**
 * Bounds connections so that those without a token never keep out those with one. A connection starts as a
 * stranger. When there are too many, the oldest stranger is closed to make room.
 */
export class Connections {
  readonly #limits: ConnectionLimits;
  /** Oldest first. Keyed by peer, because with TLS a request has another socket than its connection. */
  readonly #strangers = new Map<string, Stranger>();
  readonly #byAddress = new Map<string, Set<string>>();
  readonly #open = new Set<Socket>();

  constructor(limits: ConnectionLimits = connectionLimits) {
    this.#limits = limits;
  }

  add(socket: Socket): void {
    const peer = peerOf(socket);
    if (peer === undefined) return void socket.destroy();
    const address = callerAddress(socket.remoteAddress ?? "");
    const { total, strangers, strangersPerAddress, strangerLifeMs } = this.#limits;
    if (this.#count(address) >= strangersPerAddress) this.#dropOldest(this.#byAddress.get(address));
    if (this.#strangers.size >= strangers || this.#open.size >= total)
      this.#dropOldest(this.#strangers.keys());
    if (this.#open.size >= total) return void socket.destroy();
    this.#open.add(socket);
    const deadline = setTimeout(() => socket.destroy(), strangerLifeMs).unref();
    this.#strangers.set(peer, { socket, address, deadline, unanswered: 0 });
    const others = this.#byAddress.get(address);
    if (others === undefined) this.#byAddress.set(address, new Set([peer]));
    else others.add(peer);
    socket.once("close", () => {
      // The peer may have reconnected by now, and the new connection must stay.
      if (this.#strangers.get(peer)?.socket === socket) this.#forget(peer);
      this.#open.delete(socket);
    });
  }

  /** Undefined, and the connection is closed: the stranger has too many unanswered requests. */
  callerOf(socket: Socket, answer: ServerResponse): Caller | undefined {
    const peer = peerOf(socket) ?? "";
    const stranger = this.#strangers.get(peer);
    if (stranger !== undefined) {
      if (stranger.unanswered >= this.#limits.strangerRequests) return void socket.destroy();
      stranger.unanswered += 1;
      answer.once("close", () => {
        stranger.unanswered -= 1;
      });
    }
    return { address: callerAddress(socket.remoteAddress ?? ""), trust: () => this.#forget(peer) };
  }

  #count(address: string): number {
    return this.#byAddress.get(address)?.size ?? 0;
  }

  #dropOldest(peers: Iterable<string> = []): void {
    const [oldest] = peers;
    if (oldest === undefined) return;
    const stranger = this.#strangers.get(oldest);
    // Forget it now instead of at its close event, because a burst is accepted before that.
    this.#forget(oldest);
    if (stranger === undefined) return;
    this.#open.delete(stranger.socket);
    stranger.socket.destroy();
  }

  #forget(peer: string): void {
    const stranger = this.#strangers.get(peer);
    if (stranger === undefined) return;
    clearTimeout(stranger.deadline);
    this.#strangers.delete(peer);
    const others = this.#byAddress.get(stranger.address);
    others?.delete(peer);
    if (others?.size === 0) this.#byAddress.delete(stranger.address);
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string | undefined {
  return remoteAddress === undefined ? undefined : `${remoteAddress} ${remotePort}`;
}
