import { type Attachment, isImage } from "../../domain/attachment.ts";
import { ConfigInvalid } from "../../domain/errors.ts";

/** Models that are known to see images. Of others only the team can say it: some servers leave images out in silence. */
const seeing: readonly RegExp[] = [
  /^(?:anthropic|bedrock|vertex)\/.*claude-(?!2|instant|v1)/,
  /^openai\/(?:gpt-4o|gpt-4\.[15]|gpt-4-turbo|gpt-[5-9]|chatgpt-4o|o1(?!-mini|-preview)|o3(?!-mini)|o4)/,
  /^(?:google|vertex)\/gemini-/,
  /^simulated$/,
];

const takesImages = (model: string): boolean => seeing.some((pattern) => pattern.test(model));

/** The persona's own setting for images. Null: the default of its model. */
export type ImageChoice = boolean | null;

/** Refuses a model that cannot see the images of the brief, before anything is paid. */
export function refuseBlind(
  persona: string,
  model: string,
  images: ImageChoice,
  attachments: readonly Pick<Attachment, "name" | "mediaType">[],
): void {
  const image = attachments.find(isImage);
  if (image === undefined || images !== null || takesImages(model)) return;
  throw new ConfigInvalid(
    `The brief has the image ${image.name}, and ${model}, the model of persona ${persona}, is not known to take images.`,
    {
      advice:
        "Choose a model that takes images. Or write `images: true` for the persona if its model takes them, or `images: false` if it needs none.",
      details: { persona, model, attachment: image.name },
    },
  );
}
