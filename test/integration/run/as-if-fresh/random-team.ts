import { defineTeam, type PersonaContext, persona, phase, type Team } from "../../../../src/index.ts";

export interface Member {
  readonly name: string;
  /** Another version works in another way. */
  readonly version: number;
  /** Comes to the same whatever it finds. */
  readonly isSteady: boolean;
  readonly consumes?: readonly string[];
}

export interface Stage {
  readonly name: string;
  readonly dependsOn: readonly string[];
  readonly members: readonly Member[];
}

/** A team as plain data: to be changed, and to be made again as it was. */
export type Design = readonly Stage[];

export type Work = (member: Member, context: PersonaContext) => Promise<Record<string, string>>;

export function teamOf(design: Design, work: Work): Team {
  return defineTeam("random", {
    phases: design.map(({ name, dependsOn, members }) =>
      phase(name, {
        dependsOn,
        personas: members.map((member) =>
          persona(member.name, {
            ...(member.consumes && { consumes: member.consumes }),
            contract: { outputs: { type: "object", title: `version ${member.version}` } },
            run: async (context) => ({ summary: "done", outputs: await work(member, context) }),
          }),
        ),
      }),
    ),
  });
}

/** Random choices of one story, from its seed. */
export class Designer {
  readonly #random: () => number;
  #named = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  chance(part: number): boolean {
    return this.#random() < part;
  }

  pick<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }

  design(): Design {
    const stages: Stage[] = [];
    for (let left = 3 + Math.floor(this.#random() * 2); left > 0; left -= 1) {
      const before = stages.at(-1);
      const others = this.chance(0.6) ? [before] : [this.pick(stages), this.pick(stages)];
      const dependsOn =
        before === undefined ? [] : [...new Set(others.flatMap((stage) => stage?.name ?? []))];
      stages.push(this.#stage(stages, dependsOn));
    }
    return stages;
  }

  /** One thing is another. */
  change(design: Design): Design {
    const at = Math.floor(this.#random() * design.length);
    const stage = design[at] as Stage;
    const { dependsOn, members } = stage;
    const member = this.pick(members);
    const changed = this.pick<() => Design>([
      () => design.with(at, { ...stage, members: members.map((one) => (one === member ? newer(one) : one)) }),
      () => design.with(at, { ...stage, members: members.map((one) => (one === member ? newer(one) : one)) }),
      () => design.with(at, { ...stage, members: [...members, this.#member(design, dependsOn)] }),
      () =>
        design.with(at, {
          ...stage,
          members: members.length > 1 ? members.filter((one) => one !== member) : members,
        }),
      () => {
        const inserted = this.#stage(design.slice(0, at), dependsOn);
        return design.with(at, { ...stage, dependsOn: [inserted.name] }).toSpliced(at, 0, inserted);
      },
      () => (design.length > 2 ? without(design, stage) : design),
      () => {
        const before = design.slice(0, at).map(({ name }) => name);
        return before.length === 0 ? design : design.with(at, { ...stage, dependsOn: [this.pick(before)] });
      },
    ])();
    return consumingWhatIsThere(changed);
  }

  #stage(before: Design, dependsOn: readonly string[]): Stage {
    const members = [this.#member(before, dependsOn)];
    if (this.chance(0.4)) members.push(this.#member(before, dependsOn));
    this.#named += 1;
    return { name: `stage${this.#named}`, dependsOn, members };
  }

  #member(before: Design, dependsOn: readonly string[]): Member {
    this.#named += 1;
    const providers = ancestors(before, dependsOn).flatMap(({ members }) => members);
    const consumes = providers.length > 0 && this.chance(0.4) ? [this.pick(providers).name] : undefined;
    const isSteady = this.chance(0.4);
    return { name: `member${this.#named}`, version: 1, isSteady, ...(consumes && { consumes }) };
  }
}

const newer = (member: Member): Member => ({ ...member, version: member.version + 1 });

/** Its dependents now depend on its own dependencies. */
function without(design: Design, { name: gone, dependsOn: before }: Stage): Design {
  return design
    .filter(({ name }) => name !== gone)
    .map((stage) => ({
      ...stage,
      dependsOn: [...new Set(stage.dependsOn.flatMap((name) => (name === gone ? before : [name])))],
    }));
}

function ancestors(design: Design, dependsOn: readonly string[]): readonly Stage[] {
  const found = new Set(dependsOn);
  const stages = design.toReversed().filter(({ name, dependsOn: before }) => {
    if (found.has(name)) for (const other of before) found.add(other);
    return found.has(name);
  });
  return stages;
}

function consumingWhatIsThere(design: Design): Design {
  return design.map((stage) => {
    const there = new Set(
      ancestors(design, stage.dependsOn).flatMap(({ members }) => members.map(({ name }) => name)),
    );
    const members = stage.members.map(({ consumes, ...member }) => {
      const left = consumes?.filter((name) => there.has(name)) ?? [];
      return left.length > 0 ? { ...member, consumes: left } : member;
    });
    return { ...stage, members };
  });
}
