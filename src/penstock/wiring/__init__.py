"""Where settings choose engines and the rooms are joined; nothing below knows which engine it got."""
